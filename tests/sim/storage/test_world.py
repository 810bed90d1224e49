"""Real storage code in the simulated world."""

import os
import subprocess
import sys

import pytest

from penstock.sim.storage.drawing import draw_plan
from penstock.sim.storage.outcome import Outcome
from penstock.sim.storage.reporting import replay_command, run_seed
from penstock.sim.storage.world import StorageWorld

SEEDS = 60


def described(outcome: Outcome) -> str:
    return f"{outcome.rule}: {outcome.what}; {replay_command(outcome.seed, None)}"


@pytest.mark.slow
def test_first_seeds_keep_every_promise() -> None:
    """Two seconds' worth; ``make sim`` runs more."""
    for seed in range(SEEDS):
        outcome = run_seed(seed)
        assert outcome.is_good, described(outcome)


@pytest.mark.slow
def test_first_seeds_of_compaction_keep_every_promise() -> None:
    for seed in range(SEEDS):
        outcome = run_seed(seed, workload="compaction")
        assert outcome.is_good, f"{described(outcome)} (compaction)"


@pytest.mark.parametrize("seed", [1, 7])
def test_seed_run_twice_does_the_same_twice(seed: int) -> None:
    first, second = StorageWorld(draw_plan(seed)), StorageWorld(draw_plan(seed))
    assert first.run() == second.run()
    assert first.story == second.story
    assert first.digest != StorageWorld(draw_plan(seed + 1)).run().digest


@pytest.mark.slow
def test_seed_does_the_same_whatever_the_hash_seed() -> None:
    program = (
        "from penstock.sim.storage.reporting import run_seed; print([run_seed(n).digest for n in (3, 4)])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(told) == 1


def test_story_tells_what_happened() -> None:
    world = StorageWorld(draw_plan(1))
    world.run()
    assert world.story[0] == "life 0"
    assert any("outage" in line for line in world.story)
