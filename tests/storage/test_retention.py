from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import Millis, Offset
from penstock.storage.retention import SegmentFacts, expired_segments


def segment(
    base: int, end: int, *, size: int = 100, timestamp: int = 1000, active: bool = False
) -> SegmentFacts:
    return SegmentFacts(
        base_offset=Offset(base),
        next_offset=Offset(end),
        size_bytes=size,
        largest_timestamp=Millis(timestamp),
        is_active=active,
    )


def expired(
    facts: list[SegmentFacts],
    *,
    now: int = 1000,
    ms: int = -1,
    size: int = -1,
    high_watermark: int = 1_000_000,
    start: int = 0,
) -> list[int]:
    return [
        *expired_segments(
            facts,
            now=Millis(now),
            retention_ms=ms,
            retention_bytes=size,
            high_watermark=Offset(high_watermark),
            log_start_offset=Offset(start),
        )
    ]


THREE = [
    segment(0, 10, timestamp=1000),
    segment(10, 20, timestamp=2000),
    segment(20, 30, timestamp=3000, active=True),
]


def test_nothing_expires_when_every_rule_is_off() -> None:
    assert expired(THREE, now=10**12) == []


def test_segments_older_than_retention_expire() -> None:
    assert expired(THREE, now=2500, ms=1000) == [0]
    assert expired(THREE, now=2000, ms=1000) == []
    assert expired(THREE, now=2001, ms=1000) == [0]


def test_young_segment_protects_older_looking_ones_behind_it() -> None:
    facts = [segment(0, 10, timestamp=9000), segment(10, 20, timestamp=1), segment(20, 30, active=True)]
    assert expired(facts, now=9500, ms=1000) == []


def test_timestamp_in_the_future_keeps_a_segment() -> None:
    assert expired([segment(0, 10, timestamp=10**15), segment(10, 20, active=True)], now=5000, ms=1) == []


def test_active_segment_expires_too_when_all_of_it_is_old() -> None:
    assert expired(THREE, now=9000, ms=1000) == [0, 10, 20]


def test_empty_active_segment_never_expires() -> None:
    facts = [segment(0, 10), segment(10, 10, size=0, timestamp=-1, active=True)]
    assert expired(facts, now=9000, ms=1000) == [0]


def test_retention_of_zero_expires_at_the_next_millisecond() -> None:
    assert expired([segment(0, 10, timestamp=1000)], now=1000, ms=0) == []
    assert expired([segment(0, 10, timestamp=1000)], now=1001, ms=0) == [0]


def test_size_keeps_at_least_the_retained_bytes() -> None:
    assert expired(THREE, size=300) == []
    assert expired(THREE, size=201) == []
    assert expired(THREE, size=200) == [0]
    assert expired(THREE, size=150) == [0]
    assert expired(THREE, size=100) == [0, 10]
    assert expired(THREE, size=0) == [0, 10, 20]


def test_nothing_above_the_high_watermark_expires() -> None:
    assert expired(THREE, now=9000, ms=1, high_watermark=19) == [0]
    assert expired(THREE, now=9000, ms=1, high_watermark=20) == [0, 10]
    assert expired(THREE, size=0, high_watermark=9) == []


def test_segments_wholly_below_the_log_start_go_but_the_active_one_stays() -> None:
    assert expired(THREE, start=9) == []
    assert expired(THREE, start=10) == [0]
    assert expired(THREE, start=30) == [0, 10]


def test_rules_are_joined_by_the_one_that_takes_most() -> None:
    assert expired(THREE, now=2500, ms=1000, size=100, start=10) == [0, 10]


@given(
    sizes=st.lists(st.integers(0, 1000), min_size=1, max_size=20),
    timestamps=st.lists(st.integers(0, 1000), min_size=20, max_size=20),
    high_watermark=st.integers(0, 300),
    size=st.integers(-1, 5000),
    ms=st.integers(-1, 1000),
)
def test_expired_segments_are_a_prefix_below_the_high_watermark(
    sizes: list[int], timestamps: list[int], high_watermark: int, size: int, ms: int
) -> None:
    facts = [
        segment(i * 10, i * 10 + 10, size=s, timestamp=timestamps[i], active=i == len(sizes) - 1)
        for i, s in enumerate(sizes)
    ]
    gone = expired(facts, now=1000, ms=ms, size=size, high_watermark=high_watermark)
    assert gone == [fact.base_offset for fact in facts[: len(gone)]]
    assert all(base + 10 <= high_watermark for base in gone)
    if ms == -1 and size >= 0:
        kept = sum(sizes[len(gone) :])
        assert kept >= min(size, sum(sizes))
