"""Tasks of a good size: large ranges are cut by records and by what they take on disk, small ones packed."""

from collections.abc import Collection

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.packing import Pack, pack_ranges
from penstock.spark.offsets.ranges import OffsetRange, split_ranges
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.options.subscriptions import Assign
from penstock.spark.reading.lookup import Lookup
from penstock.spark.sessions.master import available_core_count

ASKED_FROM_RECORDS = 10_000
"""Ranges of fewer records are read quickly in one task, whatever their size."""

PIECES_BY_BYTES_MAX = 10_000
"""Of one partition, cut by what it takes on disk: more tasks than Spark is good at."""

ALONE_RECORDS_MAX = 2_000
"""So few are read by one task: starting another takes longer than reading them."""


def tasks_of(ranges: Collection[OffsetRange], options: SourceOptions) -> list[Pack]:
    """What each task reads: not too many records or bytes, and not too few.

    There are as many tasks as this machine has cores, if there is as much to read; a cluster has more, but
    nobody tells the planner. ``minPartitions`` asks for more.
    """
    pieces = split_ranges(
        ranges,
        records_max=options.records_per_partition_max,
        partitions_min=options.min_partitions,
        records_max_of=record_limits(ranges, options),
    )
    given = set(ranges)
    wholes = [piece for piece in pieces if piece in given]
    cut = [(piece,) for piece in pieces if piece not in given]
    tasks_min = max(_worth_while(pieces), options.min_partitions or 0)
    packs = pack_ranges(
        wholes,
        packs_min=max(0, tasks_min - len(cut)),
        records_max=options.records_per_partition_max,
    )
    return [*cut, *packs]


def _worth_while(pieces: Collection[OffsetRange]) -> int:
    """As many tasks as there are cores, but for what one of them has read before a second one has begun."""
    return 1 if sum(piece.size for piece in pieces) <= ALONE_RECORDS_MAX else available_core_count()


def record_limits(ranges: Collection[OffsetRange], options: SourceOptions) -> dict[TopicPartition, int]:
    """How many offsets of large ranges come to ``maxBytesPerPartition``, where brokers tell sizes."""
    large = {one.partition: one.size for one in ranges if one.size >= ASKED_FROM_RECORDS}
    if not large:
        return {}
    lookup = Lookup(options)
    layouts = lookup.layouts(Assign(partitions=tuple(sorted(large))))
    extents, sizes = lookup.extents(layouts), lookup.sizes(layouts)
    return {
        partition: max(
            _records_of_bytes(
                options.bytes_per_partition_max, sizes[partition], max(extent, large[partition])
            ),
            -(-large[partition] // PIECES_BY_BYTES_MAX),
        )
        for partition, extent in ((one, latest - earliest) for one, (earliest, latest) in extents.items())
        if sizes.get(partition)
    }


def _records_of_bytes(wanted_bytes: int, size_bytes: int, record_count: int) -> int:
    """How many of the records that take ``size_bytes`` on disk take ``wanted_bytes``.

    Segments stay on disk as a whole until all of their records are removed, so that there may be far fewer
    offsets left in the partition than the bytes belong to.
    """
    return wanted_bytes * record_count // size_bytes
