"""Plans are data, and a seed has exactly one."""

from collections import Counter
from typing import get_args

from penstock.sim.storage.drawing import LIVES_MAX, draw_compaction_plan, draw_plan
from penstock.sim.storage.plan import Append, Compact, Flush, Outage, Step


def test_plan_of_a_seed_is_always_the_same() -> None:
    assert draw_plan(7) == draw_plan(7)
    assert draw_plan(7) != draw_plan(8)


def test_plans_of_many_seeds_hold_every_kind_of_step_and_fault() -> None:
    plans = [draw(seed) for seed in range(100) for draw in (draw_plan, draw_compaction_plan)]
    lives = [life for plan in plans for life in plan.lives]
    steps = Counter(type(step).__name__ for life in lives for step in life.steps)
    assert set(steps) == {kind.__name__ for kind in get_args(Step)}
    assert {life.stop.outage for life in lives if life.stop} == set(Outage)
    assert {life.damage.suffix for life in lives if life.damage} >= {".log", ".index", ".snapshot"}
    assert any(life.flush_failure for life in lives)
    assert any(life.start_stops for life in lives)


def test_only_plans_of_compaction_compact_and_only_they_spare_the_log_files() -> None:
    for seed in range(50):
        assert not any(isinstance(step, Compact) for life in draw_plan(seed).lives for step in life.steps)
        for life in draw_compaction_plan(seed).lives:
            assert life.damage is None or life.damage.suffix != ".log"


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
