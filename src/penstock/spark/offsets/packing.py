"""Which ranges are read by one task: starting one more costs as much as reading thousands of records."""

from collections.abc import Iterable

from penstock.spark.offsets.ranges import OffsetRange

RECORDS_TOGETHER_MAX = 10_000
"""Of a task that reads more than one range; they take about as long as it takes to start one more task."""

Pack = tuple[OffsetRange, ...]


def pack_ranges(ranges: Iterable[OffsetRange], *, packs_min: int, records_max: int) -> list[Pack]:
    """The ranges in packs: at least ``packs_min`` of them, if there are so many ranges.

    Ranges share a pack only as long as it stays below ``records_max`` and ``RECORDS_TOGETHER_MAX``.
    """
    limit = min(records_max, RECORDS_TOGETHER_MAX)
    packs: list[list[OffsetRange]] = [[] for _ in range(packs_min)]
    loads = [0] * packs_min
    for one in sorted(ranges, key=lambda one: (-one.size, one.partition, one.start)):
        place = min(range(len(packs)), key=loads.__getitem__, default=None)
        if place is None or (packs[place] and loads[place] + one.size > limit):
            packs.append([])
            loads.append(0)
            place = len(packs) - 1
        packs[place].append(one)
        loads[place] += one.size
    ordered = [tuple(sorted(pack, key=lambda one: (one.partition, one.start))) for pack in packs if pack]
    return sorted(ordered, key=lambda pack: (pack[0].partition, pack[0].start))
