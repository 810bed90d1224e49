"""Where a reset moves an offset to: every target, and the edges of the log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.wire_client.groups.reset_target import NewOffset, Reference, Situation, Target, new_offset

LOG = Situation(start=10, end=100, committed=50, at_time=70)
FRESH = Situation(start=10, end=100)


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
