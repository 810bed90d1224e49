"""Cutting ranges into pieces: nothing is lost, nothing is read twice, and no piece is too large."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.ranges import OffsetRange, split_ranges


def range_of(start: int, end: int, number: int = 0) -> OffsetRange:
    return OffsetRange(partition=TopicPartition("orders", number), start=start, end=end, topic_id="id")


RANGES = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 500)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=6,
).map(lambda pairs: [range_of(start, end, number) for number, (start, end) in enumerate(pairs)])


@given(RANGES, st.integers(1, 600), st.none() | st.integers(1, 40))
def test_pieces_together_are_the_ranges(
    ranges: list[OffsetRange], records_max: int, partitions_min: int | None
) -> None:
    pieces = split_ranges(ranges, records_max=records_max, partitions_min=partitions_min)

    offsets = [(piece.partition, offset) for piece in pieces for offset in range(piece.start, piece.end)]
    assert offsets == [(one.partition, offset) for one in ranges for offset in range(one.start, one.end)]
    assert all(0 < piece.size <= records_max for piece in pieces)
    assert {piece.topic_id for piece in pieces} <= {"id"}


@given(RANGES, st.integers(1, 40))
def test_there_are_as_many_pieces_as_asked_for_if_there_are_offsets_for_them(
    ranges: list[OffsetRange], partitions_min: int
) -> None:
    pieces = split_ranges(ranges, records_max=10**9, partitions_min=partitions_min)

    filled = [one for one in ranges if one.size]
    total = sum(one.size for one in filled)
    assert len(pieces) == max(len(filled), min(partitions_min, total))


def test_large_partitions_are_cut_into_more_pieces_than_small_ones() -> None:
    pieces = split_ranges([range_of(0, 900), range_of(0, 100, 1)], records_max=10**9, partitions_min=10)

    assert [piece.partition.partition for piece in pieces] == [0] * 9 + [1]
    assert {piece.size for piece in pieces} == {100}


def test_range_reads_as_the_offsets_in_it() -> None:
    assert str(range_of(3, 8)) == "orders-0 offsets 3 to 7"
