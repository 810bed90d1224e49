"""Clusters in a simulated world keep Raft's promises, the same way every time."""

import pytest

from penstock.sim.raft.drawing import draw_plan
from penstock.sim.raft.plan import Fault
from penstock.sim.raft.reporting import run_seed
from penstock.sim.raft.world import RaftWorld

SEEDS = 60
FAILED_ONCE = (709,)
"""709: entries were sent from a place inside of a batch, where an old leader's batch had ended."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_seeds_keep_every_promise(first: int) -> None:
    for seed in range(first, first + 10):
        outcome = run_seed(seed)
        assert outcome.is_good, f"python -m penstock.sim raft --seed {seed}: {outcome.rule}: {outcome.what}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", FAILED_ONCE)
def test_seeds_that_failed_once_are_good(seed: int) -> None:
    outcome = run_seed(seed)
    assert outcome.is_good, f"{outcome.rule}: {outcome.what}"


@pytest.mark.slow
def test_seed_is_the_same_run_every_time() -> None:
    for seed in range(3):
        one, other = run_seed(seed), run_seed(seed)
        assert one == other
        assert one.digest != 0


def test_plan_of_a_seed_is_always_the_same() -> None:
    assert draw_plan(5) == draw_plan(5)
    assert draw_plan(5) != draw_plan(6)


def test_plans_draw_every_fault_and_every_habit() -> None:
    plans = [draw_plan(seed) for seed in range(300)]
    drawn = {event.fault for plan in plans for event in plan.faults}
    assert drawn == set(Fault)
    assert {plan.voters for plan in plans} == {1, 2, 3, 4, 5}
    assert {plan.uses_wire for plan in plans} == {True, False}


def test_runs_do_something() -> None:
    outcomes = [run_seed(seed) for seed in range(5)]
    assert all(outcome.elections and outcome.committed and outcome.acknowledged for outcome in outcomes)
    assert sum(outcome.faults for outcome in outcomes) > 20


@pytest.mark.slow
def test_some_seed_sends_everything_in_frames() -> None:
    seed = next(seed for seed in range(100) if draw_plan(seed).uses_wire)
    assert run_seed(seed).is_good


def test_story_tells_what_happened() -> None:
    world = RaftWorld(draw_plan(1))
    world.run()
    told = "\n".join(world.story)
    assert "-> leader in term 1" in told
    assert "fault: " in told
    assert "the world is healed" in told
