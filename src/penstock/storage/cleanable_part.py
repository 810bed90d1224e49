"""Which part of a log compaction may touch, and whether it is worth the while: pure, and Kafka's rules.

A log's *clean* part lies below its cleaned offset and holds at most one value per key. Behind it, the *dirty*
part is everything appended since. Of that, whole segments may be cleaned up to the first uncleanable
offset: where the active segment begins, where the last stable offset is, or where a record is too young
(``min.compaction.lag.ms``), whichever comes first.

A log is due when the dirty share of what would be read reaches ``min.cleanable.dirty.ratio``, or when a
dirty record is older than ``max.compaction.lag.ms``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.storage.retention import SegmentFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRules:
    """The topic's settings."""

    min_dirty_ratio: float
    min_lag_ms: int
    max_lag_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanablePart:
    """What a pass over a log would work on."""

    first_dirty_offset: int
    end_offset: int
    """The first uncleanable offset, moved down to a segment's beginning."""
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """Whether something dirty is older than it may become."""

    @property
    def dirty_ratio(self) -> float:
        """The dirty share of all bytes that a pass would read."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, rules: CompactionRules) -> bool:
        """Whether it is time."""
        if self.dirty_bytes == 0:
            return False
        return self.is_overdue or self.dirty_ratio > rules.min_dirty_ratio


def cleanable_part(
    segments: Sequence[SegmentFacts],
    rules: CompactionRules,
    *,
    first_timestamps: Mapping[int, int],
    cleaned_offset: int,
    stable_offset: int,
    now: int,
) -> CleanablePart:
    """The cleanable part of a log whose segments are given oldest first, the last one active.

    ``first_timestamps`` says by base offset when dirty segments began, and need not know any if there is
    no ``max_lag_ms``. ``stable_offset`` is at most the high watermark, and at most where the oldest open
    transaction began.
    """
    clean_bytes = dirty_bytes = 0
    end_offset = segments[0].base_offset
    is_overdue = False
    for segment in segments:
        is_dirty = segment.next_offset > cleaned_offset
        if segment.is_active or segment.next_offset > stable_offset:
            break
        if is_dirty and _is_too_young(segment, rules, now):
            break
        end_offset = segment.next_offset
        if is_dirty:
            dirty_bytes += segment.size_bytes
            began = first_timestamps.get(segment.base_offset, now)
            is_overdue = is_overdue or (began > 0 and now - began > rules.max_lag_ms)
        else:
            clean_bytes += segment.size_bytes
    return CleanablePart(
        first_dirty_offset=min(cleaned_offset, end_offset),
        end_offset=end_offset,
        clean_bytes=clean_bytes,
        dirty_bytes=dirty_bytes,
        is_overdue=is_overdue,
    )


def _is_too_young(segment: SegmentFacts, rules: CompactionRules, now: int) -> bool:
    return rules.min_lag_ms > 0 and segment.largest_timestamp > now - rules.min_lag_ms
