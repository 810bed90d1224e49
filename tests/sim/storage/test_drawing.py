"""Plans are data, and a seed has exactly one."""

from collections import Counter
from typing import get_args

from penstock.sim.storage.drawing import LIVES_MAX, draw_plan
from penstock.sim.storage.plan import Append, Flush, Outage, Step


def test_plan_of_a_seed_is_always_the_same() -> None:
    assert draw_plan(7) == draw_plan(7)
    assert draw_plan(7) != draw_plan(8)


def test_plans_of_many_seeds_hold_every_kind_of_step_and_fault() -> None:
    lives = [life for seed in range(200) for life in draw_plan(seed).lives]
    steps = Counter(type(step).__name__ for life in lives for step in life.steps)
    assert set(steps) == {kind.__name__ for kind in get_args(Step)}
    assert {life.stop.outage for life in lives if life.stop} == set(Outage)
    assert {life.damage.suffix for life in lives if life.damage} >= {".log", ".index", ".snapshot"}
    assert any(life.flush_failure for life in lives)
    assert any(life.start_stops for life in lives)


def test_plans_stay_within_their_bounds() -> None:
    for seed in range(100):
        plan = draw_plan(seed)
        assert 1 <= len(plan.lives) <= LIVES_MAX
        for step in (step for life in plan.lives for step in life.steps):
            if isinstance(step, Append):
                assert 0 <= step.partition < plan.settings.partitions
                assert step.producer is None or step.producer < plan.settings.producers


def test_plan_counts_its_faults() -> None:
    plan = draw_plan(3)
    assert plan.fault_count >= sum(not life.closes for life in plan.lives)
    assert Flush() == Flush()
