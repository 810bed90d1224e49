import pytest

from penstock.model.ids import Millis, Offset
from penstock.storage.cleanable_part import CleanablePart, CompactionRules, cleanable_part
from penstock.storage.retention import SegmentFacts

FOREVER = 2**63 - 1
NOW = 1_000_000


def rules(*, ratio: float = 0.5, min_lag_ms: int = 0, max_lag_ms: int = FOREVER) -> CompactionRules:
    return CompactionRules(min_dirty_ratio=ratio, min_lag_ms=min_lag_ms, max_lag_ms=max_lag_ms)


def segment(base: int, size_bytes: int = 100, *, timestamp: int = 0, is_active: bool = False) -> SegmentFacts:
    return SegmentFacts(
        base_offset=Offset(base),
        next_offset=Offset(base + 10),
        size_bytes=size_bytes,
        largest_timestamp=Millis(timestamp),
        is_active=is_active,
    )


SEGMENTS = [segment(0), segment(10), segment(20), segment(30, is_active=True)]


def part_of(
    segments: list[SegmentFacts] = SEGMENTS,
    chosen: CompactionRules | None = None,
    *,
    cleaned: int = 0,
    stable: int = 40,
    first_timestamps: dict[int, int] | None = None,
) -> CleanablePart:
    return cleanable_part(
        segments,
        chosen or rules(),
        first_timestamps=first_timestamps or {},
        cleaned_offset=cleaned,
        stable_offset=stable,
        now=NOW,
    )


def test_everything_but_the_active_segment_is_cleanable() -> None:
    part = part_of()
    assert (part.first_dirty_offset, part.end_offset) == (0, 30)
    assert (part.clean_bytes, part.dirty_bytes, part.dirty_ratio) == (0, 300, 1.0)


def test_clean_part_counts_against_the_ratio() -> None:
    part = part_of(cleaned=20)
    assert (part.first_dirty_offset, part.clean_bytes, part.dirty_bytes) == (20, 200, 100)
    assert part.dirty_ratio == pytest.approx(1 / 3)
    assert not part.is_due(rules(ratio=0.5))
    assert part.is_due(rules(ratio=0.3))


def test_segment_that_is_half_clean_is_dirty() -> None:
    assert part_of(cleaned=15).dirty_bytes == 200


def test_open_transaction_keeps_its_segment_and_all_behind() -> None:
    part = part_of(stable=25)
    assert part.end_offset == 20
    assert part_of(stable=0).dirty_bytes == 0


def test_young_records_are_left_alone() -> None:
    segments = [segment(0, timestamp=NOW - 500), segment(10, timestamp=NOW - 50), *SEGMENTS[2:]]
    assert part_of(segments, rules(min_lag_ms=100)).end_offset == 10
    assert part_of(segments, rules(min_lag_ms=10)).end_offset == 30


def test_old_dirty_records_are_due_whatever_the_ratio() -> None:
    old = {20: NOW - 1_000}
    assert part_of(cleaned=20, first_timestamps=old, chosen=rules(max_lag_ms=999)).is_due(rules(ratio=1.0))
    assert not part_of(cleaned=20, first_timestamps=old, chosen=rules(max_lag_ms=1_000)).is_overdue
    assert not part_of(cleaned=30, first_timestamps=old, chosen=rules(max_lag_ms=1)).is_overdue


def test_clean_log_is_never_due() -> None:
    assert not part_of(cleaned=30).is_due(rules(ratio=0.0))


def test_log_of_one_segment_has_nothing_to_clean() -> None:
    part = part_of([segment(0, is_active=True)])
    assert (part.dirty_bytes, part.dirty_ratio) == (0, 0.0)
