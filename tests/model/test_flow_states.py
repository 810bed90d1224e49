"""What flows say, and what they never say."""

import pytest

from penstock.model.flow_states import SILENT_MS, flow_state, heard_state


def test_what_a_flow_said_is_taken_as_it_is() -> None:
    said = b'{"pipeline": "shop", "flow": "totals", "at_ms": 5, "state": "ended"}'
    assert flow_state(said) == {"pipeline": "shop", "flow": "totals", "at_ms": 5, "state": "ended"}


@pytest.mark.parametrize(
    "value",
    [b"\xff not json", b"", b"[]", b"3", b'{"pipeline": 3}', b'{"pipeline": "a", "flow": "b"}'],
)
def test_what_no_flow_says_is_nothing(value: bytes) -> None:
    assert flow_state(value) is None


def test_what_is_nested_too_deep_to_read_is_nothing() -> None:
    assert flow_state(b"[" * 100_000) is None


def test_a_flow_that_was_not_heard_of_for_long_is_silent() -> None:
    state = {"state": "running", "at_ms": 1_000}
    assert heard_state(state, now_ms=1_000 + SILENT_MS) == "running"
    assert heard_state(state, now_ms=1_001 + SILENT_MS) == "silent"
    assert heard_state({"state": "ended", "at_ms": 0}, now_ms=10**12) == "ended"
