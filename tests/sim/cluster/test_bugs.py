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
        ("producers-not-replayed", 23),
    ],
)
def test_planted_bug_is_noticed(bug: str, first: int) -> None:
    choice = Choice(node_count=1, bug=bug)
    assert any(not run_seed(seed, choice).is_good for seed in range(first, first + TRIES))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "first"),
    [
        ("follower-promises-unflushed", 0),
        ("leader-commits-alone", 0),
        ("followers-show-too-much", 0),
        ("silent-members-dropped", 2),
        ("divergence-unchecked", 2),
        ("anybody-let-in", 2),
        ("everybody-eligible", 2),
        ("minimum-ignored", 3),
    ],
)
def test_bug_planted_in_a_cluster_is_noticed(bug: str, first: int) -> None:
    choice = Choice(node_count=3, bug=bug)
    assert any(not run_seed(seed, choice).is_good for seed in range(first, first + TRIES))
