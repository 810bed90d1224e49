"""Where a reset moves an offset to: every target, and the edges of the log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.group.reset_target import (
    CHOICES,
    NewOffset,
    Reference,
    Situation,
    Target,
    new_offset,
    parse_target,
)
from penstock.model.errors import UsageError

LOG = Situation(start=10, end=100, committed=50, at_time=70)
FRESH = Situation(start=10, end=100)


@pytest.mark.parametrize(
    ("given_options", "expected"),
    [
        ({"--to-earliest": True}, Target(Reference.EARLIEST)),
        ({"--to-latest": True}, Target(Reference.LATEST)),
        ({"--to-current": True}, Target(Reference.CURRENT)),
        ({"--to-datetime": "1970-01-01T00:00:01"}, Target(Reference.TIMESTAMP, 1_000)),
        ({"--by-duration": "10s"}, Target(Reference.TIMESTAMP, 90_000)),
        ({"--shift-by": -5}, Target(Reference.SHIFT, -5)),
        ({"--shift-by": 0}, Target(Reference.SHIFT, 0)),
        ({"--to-offset": 0}, Target(Reference.OFFSET, 0)),
    ],
)
def test_parse_target_each_option_is_understood(
    given_options: dict[str, str | int | bool | None], expected: Target
) -> None:
    everything = dict.fromkeys(CHOICES) | {"--to-earliest": False} | given_options

    assert parse_target(everything, now_ms=100_000) == expected


def test_parse_target_without_any_names_all() -> None:
    with pytest.raises(UsageError) as refused:
        parse_target({}, now_ms=0)
    assert all(choice in str(refused.value) for choice in CHOICES)


def test_parse_target_with_two_names_both() -> None:
    with pytest.raises(UsageError, match=r"^--to-latest and --shift-by exclude each other"):
        parse_target({"--shift-by": 0, "--to-latest": True}, now_ms=0)


@pytest.mark.parametrize(
    ("target", "situation", "expected"),
    [
        (Target(Reference.EARLIEST), LOG, NewOffset(10)),
        (Target(Reference.LATEST), LOG, NewOffset(100)),
        (Target(Reference.CURRENT), LOG, NewOffset(50)),
        (Target(Reference.CURRENT), FRESH, NewOffset(100, "nothing committed: moved to the end")),
        (Target(Reference.TIMESTAMP, 1), LOG, NewOffset(70)),
        (Target(Reference.TIMESTAMP, 1), FRESH, NewOffset(100, "no record is that young: moved to the end")),
        (Target(Reference.SHIFT, -40), LOG, NewOffset(10)),
        (Target(Reference.SHIFT, -41), LOG, NewOffset(10, "9 lies before the log: moved to its start")),
        (Target(Reference.SHIFT, 50), LOG, NewOffset(100)),
        (Target(Reference.SHIFT, 51), LOG, NewOffset(100, "101 lies beyond the log: moved to its end")),
        (Target(Reference.SHIFT, 5), FRESH, NewOffset(None, "nothing committed: left alone")),
        (Target(Reference.OFFSET, 60), FRESH, NewOffset(60)),
        (Target(Reference.OFFSET, 0), LOG, NewOffset(10, "0 lies before the log: moved to its start")),
    ],
)
def test_new_offset_each_target_at_the_edges(
    target: Target, situation: Situation, expected: NewOffset
) -> None:
    assert new_offset(target, situation) == expected


@given(
    reference=st.sampled_from(Reference),
    number=st.integers(-(2**63), 2**63 - 1),
    start=st.integers(0, 2**62),
    length=st.integers(0, 2**32),
    committed=st.none() | st.integers(0, 2**63 - 1),
    at=st.none() | st.floats(0, 1),
)
def test_new_offset_always_lies_within_the_log_and_a_surprise_is_explained(
    reference: Reference, number: int, start: int, length: int, committed: int | None, at: float | None
) -> None:
    end = start + length
    at_time = None if at is None else min(end, start + int(at * length))
    situation = Situation(start=start, end=end, committed=committed, at_time=at_time)

    offset, note = new_offset(Target(reference, number), situation)

    assert offset is not None or (reference is Reference.SHIFT and committed is None)
    assert offset is None or start <= offset <= end
    if reference is Reference.SHIFT and committed is not None and not note:
        assert offset == committed + number
    if reference is Reference.OFFSET and not note:
        assert offset == number
