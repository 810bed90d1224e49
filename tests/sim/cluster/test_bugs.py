"""Planted bugs are noticed: the quick part of the table in docs/simulation.md."""

import pytest

from penstock.sim.cluster.reporting import Choice, run_seed

TRIES = 8
"""Seeds to try: which of them notices a bug first may change with the broker's timing."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "first"),
    [
        ("ack-before-flush", 0),
        ("pending-offsets-forgotten", 0),
        ("coordinator-loads-nothing", 0),
        ("aborted-unlisted", 0),
        ("sequences-unchecked", 1),
        ("stable-offset-too-high", 1),
        ("producers-not-replayed", 5),
    ],
)
def test_planted_bug_is_noticed(bug: str, first: int) -> None:
    assert any(not run_seed(seed, Choice(bug=bug)).is_good for seed in range(first, first + TRIES))
