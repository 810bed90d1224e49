"""From one remembered offset of a stream to the next: what is begun anew, what is to be read, how far."""

from collections.abc import Mapping
from dataclasses import replace

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.limits import share_limit
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.offsets.stream_offset import StreamOffset

Offsets = Mapping[TopicPartition, int]

FIRST_OFFSET = 0
"""Of every partition, when it is made: so a partition that is new to a query is read from here on."""


def is_made_anew(topic: str, start: StreamOffset, end: StreamOffset) -> bool:
    """Whether a topic was deleted and made again between two offsets; never if an id is not known."""
    before, after = start.topic_ids.get(topic), end.topic_ids.get(topic)
    return before is not None and after is not None and before != after


def begin_offsets(start: StreamOffset, end: StreamOffset) -> dict[TopicPartition, int]:
    """Where to read on in each partition of ``end``: from the first offset in those that are new."""
    return {
        partition: FIRST_OFFSET
        if is_made_anew(partition.topic, start, end)
        else start.offsets.get(partition, FIRST_OFFSET)
        for partition in end.offsets
    }


def ranges_between(start: StreamOffset, end: StreamOffset) -> list[OffsetRange]:
    """What a micro-batch reads. It depends on nothing but the two offsets, so that it can be repeated."""
    begins = begin_offsets(start, end)
    return [
        OffsetRange(
            partition=partition,
            start=begins[partition],
            end=end.offsets[partition],
            topic_id=end.topic_ids.get(partition.topic),
        )
        for partition in sorted(end.offsets)
        if end.offsets[partition] > begins[partition]
    ]


def moves(start: StreamOffset, end: StreamOffset) -> bool:
    """Whether a micro-batch is needed to get from one to the other, be it an empty one."""
    return start.offsets != end.offsets or any(is_made_anew(topic, start, end) for topic in end.topics)


def not_before(start: StreamOffset, target: StreamOffset, fresh: Offsets) -> StreamOffset:
    """``target``, but not before what was read already; only what ``fresh`` lacks of that takes it back."""
    ends: dict[TopicPartition, int] = {}
    for partition, end in target.offsets.items():
        begin = end if is_made_anew(partition.topic, start, target) else start.offsets.get(partition, end)
        ends[partition] = end if begin <= end else min(begin, fresh.get(partition, begin))
    return replace(target, offsets=ends)


def is_behind(target: StreamOffset, start: StreamOffset) -> bool:
    """Whether some partition was read further than ``target`` goes."""
    return any(
        target.offsets.get(partition, offset) < offset and not is_made_anew(partition.topic, start, target)
        for partition, offset in start.offsets.items()
    )


def backlog(begins: Offsets, latest: Offsets) -> dict[TopicPartition, int]:
    """What waits in each partition."""
    return {partition: max(0, latest[partition] - begins[partition]) for partition in latest}


def limited(begins: Offsets, latest: StreamOffset, *, limit: int) -> StreamOffset:
    """``latest``, but so that at most ``limit`` offsets lie between it and ``begins``.

    A partition that ends before it begins, since its end was lost, goes back to its end.
    """
    shares = share_limit(backlog(begins, latest.offsets), limit)
    ends = {
        partition: min(latest.offsets[partition], begins[partition] + shares[partition])
        for partition in latest.offsets
    }
    return replace(latest, offsets=ends)
