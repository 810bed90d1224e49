"""Steps of a stream: every offset is read once, whatever the limits, new partitions and new topics."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.stream_offset import StreamOffset
from penstock.spark.offsets.stream_steps import (
    backlog,
    begin_offsets,
    is_behind,
    is_made_anew,
    limited,
    moves,
    not_before,
    ranges_between,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
PARTITIONS = st.sampled_from([TopicPartition("a", number) for number in range(4)])
OFFSETS = st.dictionaries(PARTITIONS, st.integers(0, 300), min_size=1)


def at(offsets: dict[TopicPartition, int], **ids: str) -> StreamOffset:
    return StreamOffset(offsets=offsets, topic_ids=ids)


@given(st.lists(OFFSETS, min_size=1, max_size=6), st.integers(1, 50))
def test_every_offset_is_read_once_and_in_order(growth: list[dict[TopicPartition, int]], limit: int) -> None:
    """A stream that is asked again and again while its topic grows in length and in partitions."""
    latest: dict[TopicPartition, int] = {}
    position = at({}, a="id")
    read: dict[TopicPartition, list[int]] = {}
    for grown in [*growth, *[{}] * 2000]:
        latest |= {key: max(offset, latest.get(key, 0)) for key, offset in grown.items()}
        end = limited(begin_offsets(position, at(latest, a="id")), at(latest, a="id"), limit=limit)
        if not grown and not moves(position, end):
            break
        ranges = ranges_between(position, end)
        assert sum(one.size for one in ranges) <= limit
        for one in ranges:
            read.setdefault(one.partition, []).extend(range(one.start, one.end))
        position = end

    assert position.offsets == latest
    assert read == {key: list(range(offset)) for key, offset in latest.items() if offset}


def test_new_partition_is_read_from_its_first_offset() -> None:
    start, end = at({A0: 7}), at({A0: 9, A1: 4})

    assert begin_offsets(start, end) == {A0: 7, A1: 0}
    assert [(one.partition, one.start, one.end) for one in ranges_between(start, end)] == [
        (A0, 7, 9),
        (A1, 0, 4),
    ]


def test_topic_made_anew_is_read_from_its_first_offset() -> None:
    start, end = at({A0: 70}, a="old"), at({A0: 9}, a="new")

    assert is_made_anew("a", start, end)
    assert moves(start, at({A0: 70}, a="new"))
    assert [(one.start, one.end, one.topic_id) for one in ranges_between(start, end)] == [(0, 9, "new")]


def test_topic_whose_id_was_not_known_is_the_same_one() -> None:
    assert not is_made_anew("a", at({A0: 7}), at({A0: 9}, a="id"))
    assert not moves(at({A0: 7}), at({A0: 7}, a="id"))


def test_partition_that_got_shorter_has_nothing_to_read_and_goes_back() -> None:
    start, latest = at({A0: 70, A1: 5}), at({A0: 9, A1: 8})
    end = limited(begin_offsets(start, latest), latest, limit=2)

    assert end.offsets == {A0: 9, A1: 7}
    assert [one.partition for one in ranges_between(start, end)] == [A1]
    assert backlog(start.offsets, latest.offsets) == {A0: 0, A1: 3}


def test_target_does_not_go_back_behind_what_was_read() -> None:
    start, target = at({A0: 12, A1: 3}), at({A0: 10, A1: 5, B0: 2})

    assert is_behind(target, start)
    assert not_before(start, target, {A0: 40}).offsets == {A0: 12, A1: 5, B0: 2}
    assert not_before(start, target, {A0: 11}).offsets == {A0: 11, A1: 5, B0: 2}


def test_target_in_a_topic_made_anew_is_not_behind() -> None:
    start, target = at({A0: 12}, a="old"), at({A0: 10}, a="new")

    assert not is_behind(target, start)
    assert not_before(start, target, {}).offsets == {A0: 10}


def test_topic_that_is_only_in_the_start_moves_the_stream() -> None:
    assert moves(at({A0: 1, B0: 1}), at({A0: 1}))
    assert not moves(at({A0: 1}), at({A0: 1}))
