"""How far copies are behind."""

from collections.abc import Iterable
from typing import NamedTuple

from penstock.client import Admin, TopicPartition
from penstock.spark.mirror.offset_map import Entries, MirroredPartition


class PartitionLag(NamedTuple):
    """A partition at the source, and how much of it is at the target."""

    topic: str
    partition: int
    copy: str
    source_end: int
    mirrored: int
    """The offset at the source up to which everything is at the target."""
    at_ms: int
    """When that was written down."""

    @property
    def lag(self) -> int:
        """Offsets that are not there yet, records or not."""
        return max(0, self.source_end - self.mirrored)


def partition_lags(source: Admin, source_id: str, entries: Entries) -> list[PartitionLag]:
    """Of all partitions of that source which the map at the target has, and which are still there."""
    mirrored = sorted(partition for partition in entries if partition.source_id == source_id)
    topics = set(source.list_topics())
    present = [partition for partition in mirrored if partition.topic in topics]
    if not present:
        return []
    ends = source.list_offsets({TopicPartition(each.topic, each.partition) for each in present})
    return [_lag(each, entries, ends[TopicPartition(each.topic, each.partition)]) for each in present]


def total_lag(lags: Iterable[PartitionLag]) -> int:
    """Of all partitions together."""
    return sum(each.lag for each in lags)


def _lag(partition: MirroredPartition, entries: Entries, source_end: int) -> PartitionLag:
    entry = entries[partition]
    return PartitionLag(
        topic=partition.topic,
        partition=partition.partition,
        copy=partition.copy,
        source_end=source_end,
        mirrored=entry.points[-1].source,
        at_ms=entry.at_ms,
    )
