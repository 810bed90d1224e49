"""How far copies are behind."""

from typing import NamedTuple

from penstock.client import Admin, OffsetResetPolicy, TopicPartition
from penstock.spark.mirror.offset_map import Entries


class PartitionLag(NamedTuple):
    """A partition at the source, and how much of it is at the target."""

    topic: str
    partition: int
    copy: str
    source_end: int
    mirrored: int
    """The offset at the source up to which everything that is still there is at the target."""
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
    names = {each: TopicPartition(each.topic, each.partition) for each in present}
    firsts = source.list_offsets(names.values(), OffsetResetPolicy.EARLIEST)
    ends = source.list_offsets(names.values())
    return [
        PartitionLag(
            topic=each.topic,
            partition=each.partition,
            copy=each.copy,
            source_end=ends[name],
            mirrored=max(entries[each].points[-1].source, firsts[name]),
            at_ms=entries[each].at_ms,
        )
        for each, name in names.items()
    ]
