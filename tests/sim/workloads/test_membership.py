"""What members tell each other through the coordinator."""

import pytest

from penstock.sim.workloads.membership import _decode_assignment, _encode_assignment


@pytest.mark.parametrize("partitions", [(), (0,), (0, 2, 5)])
def test_assignment_comes_back_as_it_was_given(partitions: tuple[int, ...]) -> None:
    assert _decode_assignment(_encode_assignment("orders", partitions)) == partitions


def test_member_without_an_assignment_owns_nothing() -> None:
    assert _decode_assignment(b"") == ()
