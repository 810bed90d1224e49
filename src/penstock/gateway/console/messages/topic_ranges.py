"""What a topic holds: the offsets of its partitions, and those at a moment."""

from collections.abc import Collection, Mapping

from penstock.gateway.console.messages.cursor import PARTITIONS_MAX, Cursor
from penstock.gateway.errors import GatewayError
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import OffsetRange, stored_ranges
from penstock.wire_client.topics import find_leaders, offsets_at

TopicRanges = Mapping[int, OffsetRange]
"""By partition; those that nobody leads at present are not there."""


def topic_ranges(
    cluster: Cluster, topic: str, partitions: Collection[int] = (), *, is_read_committed: bool = True
) -> TopicRanges:
    """What ``partitions`` of a topic hold, or the first of all its partitions."""
    existing = [partition.partition for partition in find_leaders(cluster, [topic])]
    if not existing:
        raise _absent(f"There is no topic {topic!r}.")
    for number in partitions:
        if number not in existing:
            raise _absent(f"Topic {topic!r} has no partition {number}; it has 0 to {existing[-1]}.")
    wanted = sorted(partitions or existing)[:PARTITIONS_MAX]
    found = stored_ranges(
        cluster, (TopicPartition(topic, each) for each in wanted), is_read_committed=is_read_committed
    )
    return {partition.partition: offsets for partition, offsets in found.items()}


def cursor_at(cluster: Cluster, topic: str, ranges: TopicRanges, *, timestamp_ms: int) -> Cursor:
    """The first offsets that are not older; the end where all are."""
    wanted = dict.fromkeys((TopicPartition(topic, each) for each in ranges), timestamp_ms)
    offsets = {partition.partition: at for partition, at in offsets_at(cluster, wanted).items()}
    return {number: _within(offsets.get(number), ranges[number]) for number in ranges}


def clamped(cursor: Cursor, ranges: TopicRanges, *, otherwise_end: bool) -> dict[int, int]:
    """A place in every partition: that of the cursor if there is one, or else an end of the partition."""
    return {
        number: min(max(cursor[number], offsets.start), offsets.end)
        if number in cursor
        else (offsets.end if otherwise_end else offsets.start)
        for number, offsets in ranges.items()
    }


def _within(offset: int | None, offsets: OffsetRange) -> int:
    return offsets.end if offset is None else min(max(offset, offsets.start), offsets.end)


def _absent(message: str) -> GatewayError:
    return GatewayError(404, message, error_code=40401, error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.name)
