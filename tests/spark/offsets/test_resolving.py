"""Places that options name, turned into offsets by what partitions hold."""

import pytest

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.positions import EARLIEST, LATEST, Boundary, Place, Position
from penstock.spark.offsets.resolving import (
    Extent,
    choose_positions,
    resolve_end,
    resolve_start,
    times_to_look_up,
)
from penstock.spark.options.definition import OptionError
from penstock.spark.options.positions import parse_offsets

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
EXTENT = Extent(100, 200)
EXTENTS = {A0: EXTENT}


def start_of(position: Position, found: int | None = None, *, lenient: bool = False) -> int:
    times = times_to_look_up({A0: position}, now_ms=10_000)
    return resolve_start(
        {A0: position},
        EXTENTS,
        dict.fromkeys(times, found),
        option="startingOffsets",
        begins_at_end_without_match=lenient,
    )[A0]


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (EARLIEST, 100),
        (LATEST, 200),
        (Position(Place.OFFSET, 150), 150),
        (Position(Place.OFFSET, 200), 200),
        (Position(Place.OFFSET, 5), 5),
        (Position(Place.BEFORE_END, 30), 170),
        (Position(Place.BEFORE_END, 5000), 100),
    ],
    ids=str,
)
def test_position_is_found_without_looking_at_times(position: Position, offset: int) -> None:
    assert start_of(position) == offset
    assert resolve_end({A0: position}, EXTENTS, {}, option="endingOffsets")[A0] == offset


def test_times_are_absolute_or_counted_back_from_now() -> None:
    positions = {A0: Position(Place.TIMESTAMP, 70), A1: Position(Place.AGO, 4_000), B0: EARLIEST}

    assert times_to_look_up(positions, now_ms=10_000) == {A0: 70, A1: 6_000}
    assert times_to_look_up({A1: Position(Place.AGO, 40_000)}, now_ms=10_000) == {A1: 0}


def test_start_at_a_time_is_where_the_broker_says() -> None:
    assert start_of(Position(Place.TIMESTAMP, 70), 133) == 133


def test_start_at_a_time_that_is_not_committed_yet_is_the_end() -> None:
    assert start_of(Position(Place.TIMESTAMP, 70), 210) == 200


def test_start_at_a_time_after_the_last_record_is_an_error_unless_told_otherwise() -> None:
    with pytest.raises(OptionError, match="timestamp 70 for a-0, which has no record as late as that"):
        start_of(Position(Place.TIMESTAMP, 70), None)
    assert start_of(Position(Place.TIMESTAMP, 70), None, lenient=True) == 200


def test_start_some_time_ago_with_no_record_since_is_the_end() -> None:
    assert start_of(Position(Place.AGO, 70), None) == 200


def test_end_at_a_time_after_the_last_record_is_the_end() -> None:
    ends = resolve_end({A0: Position(Place.TIMESTAMP, 70)}, EXTENTS, {A0: None}, option="endingTimestamp")
    assert ends == {A0: 200}


def test_offset_behind_the_end_is_refused_with_the_end() -> None:
    with pytest.raises(OptionError, match="startingOffsets is 201 for a-0, which ends at offset 200"):
        start_of(Position(Place.OFFSET, 201))


def test_most_special_name_counts() -> None:
    boundary = parse_offsets('{"a":{"0":7,"*":8},"*":{"*":9}}')

    chosen = choose_positions(boundary, [A0, A1, B0])

    assert [position.number for position in chosen.values()] == [7, 8, 9]


def test_partitions_that_are_not_named_are_missed_with_what_to_write() -> None:
    with pytest.raises(OptionError, match=r'says nothing of a-1: .*\{"a":\{"\*":-2\}\}'):
        choose_positions(Boundary(option="startingOffsets", partitions={A0: LATEST}), [A0, A1])


def test_many_missing_partitions_are_counted() -> None:
    partitions = [TopicPartition("a", number) for number in range(9)]
    with pytest.raises(OptionError, match="a-4 and 4 more"):
        choose_positions(Boundary(option="startingOffsets"), partitions)


def test_partition_that_is_not_read_is_named() -> None:
    with pytest.raises(OptionError, match="names a-1, which is not read here"):
        choose_positions(Boundary(option="o", everywhere=LATEST, partitions={A1: LATEST}), [A0])


def test_topic_that_is_not_read_is_named() -> None:
    with pytest.raises(OptionError, match="names topic 'b', which is not read here"):
        choose_positions(Boundary(option="o", everywhere=LATEST, topics={"b": LATEST}), [A0])


def test_positions_read_as_words() -> None:
    assert str(Position(Place.AGO, 5)) == "5 ms ago"
    assert str(LATEST) == "latest"
