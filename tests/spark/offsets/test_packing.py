"""Small ranges share a task; nothing gets lost on the way, and no pack is too large."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.packing import RECORDS_TOGETHER_MAX, pack_ranges
from penstock.spark.offsets.ranges import OffsetRange

RANGES = st.lists(st.integers(1, 30_000), max_size=20).map(
    lambda sizes: [
        OffsetRange(partition=TopicPartition("orders", number), start=7, end=7 + size)
        for number, size in enumerate(sizes)
    ]
)


@given(RANGES, st.integers(0, 8), st.integers(1, 20_000))
def test_packs_hold_every_range_once_and_not_too_much(
    ranges: list[OffsetRange], packs_min: int, records_max: int
) -> None:
    packs = pack_ranges(ranges, packs_min=packs_min, records_max=records_max)

    assert sorted(one.partition for pack in packs for one in pack) == [one.partition for one in ranges]
    assert len(packs) >= min(packs_min, len(ranges))
    limit = min(records_max, RECORDS_TOGETHER_MAX)
    assert all(len(pack) == 1 or sum(one.size for one in pack) <= limit for pack in packs)


def test_small_ranges_share_as_many_tasks_as_there_are_cores() -> None:
    ranges = [OffsetRange(partition=TopicPartition("a", number), start=0, end=40) for number in range(24)]

    packs = pack_ranges(ranges, packs_min=2, records_max=1_000_000)

    assert [sum(one.size for one in pack) for pack in packs] == [480, 480]


def test_large_ranges_have_tasks_of_their_own() -> None:
    ranges = [OffsetRange(partition=TopicPartition("a", number), start=0, end=9_000) for number in range(5)]

    assert len(pack_ranges(ranges, packs_min=2, records_max=1_000_000)) == 5
