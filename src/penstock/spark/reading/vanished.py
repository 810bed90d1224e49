"""What became of a range that a broker no longer has: removed, cut off, deleted, or nothing of the sort."""

import time

from penstock.model.error_codes import ErrorCode
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.subscriptions import Assign
from penstock.spark.reading.data_loss import Cause, Loss
from penstock.spark.reading.lookup import Lookup, TopicLayout

GONE = frozenset(
    {
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)
"""Answers to a fetch that may mean that records are gone; a broker that is behind gives them too."""

_CONFIRMING_SECONDS = 2.0
"""How long a topic has to be absent before it counts as deleted."""

_PAUSE_SECONDS = 0.1


def find_loss(lookup: Lookup, remaining: OffsetRange) -> Loss | None:
    """What of the beginning of a range is gone; None if nothing is, so that it may be asked for again."""
    layout = _layout(lookup, remaining)
    if layout is None:
        return _lost(remaining, None, Cause.DELETED)
    if _is_another(layout, remaining):
        return _lost(remaining, None, Cause.RECREATED)
    earliest, latest = lookup.of_all_records().extents({layout.name: layout})[remaining.partition]
    if earliest > remaining.start:
        return _lost(remaining, min(earliest, remaining.end), Cause.REMOVED)
    if latest < remaining.start:
        return _lost(remaining, remaining.end, Cause.TRUNCATED)
    return None


def find_missing_end(lookup: Lookup, remaining: OffsetRange) -> Loss | None:
    """What of the end of a range is gone; None if the partition is as long as it should be.

    What a transaction is open for is there, and not gone.
    """
    layout = _layout(lookup, remaining)
    if layout is None or _is_another(layout, remaining):
        return find_loss(lookup, remaining)
    latest = lookup.of_all_records().latest({layout.name: layout})[remaining.partition]
    return _lost(remaining, remaining.end, Cause.TRUNCATED) if latest < remaining.end else None


def _layout(lookup: Lookup, remaining: OffsetRange) -> TopicLayout | None:
    """The topic with this one partition, or one of its name; None if neither was there for a while."""
    wanted = remaining.partition
    deadline = time.monotonic() + _CONFIRMING_SECONDS
    while True:
        layout = lookup.layouts(Assign(partitions=(wanted,))).get(wanted.topic)
        if layout is not None and (wanted.partition in layout.leaders or _is_another(layout, remaining)):
            return layout
        if time.monotonic() > deadline:
            return None
        time.sleep(_PAUSE_SECONDS)


def _is_another(layout: TopicLayout, remaining: OffsetRange) -> bool:
    ids = (layout.topic_id, remaining.topic_id)
    return None not in ids and layout.topic_id != remaining.topic_id


def _lost(remaining: OffsetRange, end: int | None, cause: Cause) -> Loss:
    return Loss(partition=remaining.partition, start=remaining.start, end=end, cause=cause)
