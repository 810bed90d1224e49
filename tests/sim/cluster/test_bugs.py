"""Whole brokers with bugs in them are noticed: a few rows of the table in docs/simulation.md.

Every bug has a story that tells it at once (``tests/scenarios/test_cluster_stories.py``). These are some that
almost every seed notices, to show that the simulator would tell.
"""

import pytest

from penstock.sim.cluster.reporting import Choice, run_seed

TRIES = 8
"""Seeds to try: which of them notices a bug first may change with the broker's timing."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "node_count"),
    [
        ("shown-before-flush", 1),
        ("aborted-unlisted", 1),
        ("leader-commits-alone", 3),
        ("follower-promises-unflushed", 3),
    ],
)
def test_planted_bug_is_noticed(bug: str, node_count: int) -> None:
    choice = Choice(node_count=node_count, bug=bug)
    assert any(not run_seed(seed, choice).is_good for seed in range(TRIES))
