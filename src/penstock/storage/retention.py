"""Which segments of a log have lived long enough: a pure decision on numbers.

Kafka's rules. Segments go oldest first and without gaps, so the first that must stay protects all behind it.
Nothing above the high watermark goes: it may not be on every replica. An empty segment is never the reason
for a deletion. The active segment may be named too; the log then rolls before it deletes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from penstock.model.ids import Millis, Offset

UNLIMITED = -1
"""Kafka's value for ``retention.ms`` and ``retention.bytes`` that switches the rule off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFacts:
    """What retention needs to know of one segment."""

    base_offset: Offset
    #: The first offset behind it; equal to ``base_offset`` when it is empty.
    next_offset: Offset
    size_bytes: int
    #: Of its records; when the last one came where they carry none.
    largest_timestamp: Millis
    is_active: bool


def expired_segments(
    facts: Sequence[SegmentFacts],
    *,
    now: Millis,
    retention_ms: int,
    retention_bytes: int,
    high_watermark: Offset,
    log_start_offset: Offset,
) -> list[Offset]:
    """Base offsets of the segments to delete, oldest first; ``facts`` must be in the order of offsets."""
    deletable = [*takewhile(lambda segment: _may_go(segment, high_watermark), facts)]
    too_old = _count_while(deletable, lambda segment: _is_too_old(segment, now, retention_ms))
    before_start = _count_while(deletable, lambda segment: _is_before(segment, log_start_offset))
    too_much = _count_too_much(deletable, sum(segment.size_bytes for segment in facts), retention_bytes)
    count = max(too_old, before_start, too_much)
    return [segment.base_offset for segment in deletable[:count]]


def _may_go(segment: SegmentFacts, high_watermark: Offset) -> bool:
    is_empty = segment.next_offset == segment.base_offset
    return segment.next_offset <= high_watermark and not (is_empty and segment.is_active)


def _is_too_old(segment: SegmentFacts, now: Millis, retention_ms: int) -> bool:
    return retention_ms > UNLIMITED and now - segment.largest_timestamp > retention_ms


def _is_before(segment: SegmentFacts, log_start_offset: Offset) -> bool:
    """All of it was deleted by request; the active segment stays to take the next append."""
    return not segment.is_active and segment.next_offset <= log_start_offset


def _count_too_much(segments: Sequence[SegmentFacts], total_bytes: int, retention_bytes: int) -> int:
    """How many segments can go while at least ``retention_bytes`` remain."""
    if retention_bytes <= UNLIMITED:
        return 0
    excess_bytes = total_bytes - retention_bytes
    for count, segment in enumerate(segments):
        excess_bytes -= segment.size_bytes
        if excess_bytes < 0:
            return count
    return len(segments)


def _count_while(segments: Sequence[SegmentFacts], predicate: Callable[[SegmentFacts], bool]) -> int:
    return sum(1 for _ in takewhile(predicate, segments))
