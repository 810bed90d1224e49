"""How many records of a partition make a task of a good size, by what the partition takes on disk."""

from collections.abc import Collection

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.ranges import OffsetRange, split_ranges
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.options.subscriptions import Assign
from penstock.spark.reading.lookup import Lookup

ASKED_FROM_RECORDS = 10_000
"""Ranges of fewer records are read quickly in one task, whatever their size."""


def tasks_of(ranges: Collection[OffsetRange], options: SourceOptions) -> list[OffsetRange]:
    """The ranges, cut so that no task has too many records or bytes to read."""
    return split_ranges(
        ranges,
        records_max=options.records_per_partition_max,
        partitions_min=options.min_partitions,
        records_max_of=record_limits(ranges, options),
    )


def record_limits(ranges: Collection[OffsetRange], options: SourceOptions) -> dict[TopicPartition, int]:
    """How many offsets of large ranges come to ``maxBytesPerPartition``, where brokers tell sizes."""
    large = tuple(sorted(one.partition for one in ranges if one.size >= ASKED_FROM_RECORDS))
    if not large:
        return {}
    lookup = Lookup(options)
    layouts = lookup.layouts(Assign(partitions=large))
    extents, sizes = lookup.extents(layouts), lookup.sizes(layouts)
    return {
        partition: max(1, options.bytes_per_partition_max * (latest - earliest) // sizes[partition])
        for partition, (earliest, latest) in extents.items()
        if sizes.get(partition)
    }
