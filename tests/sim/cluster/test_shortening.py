"""Finding out which parts of a plan a failure needs."""

from penstock.sim.cluster.drawing import draw_plan
from penstock.sim.cluster.plan import ClusterPlan
from penstock.sim.cluster.shortening import RUNS_MAX, shorten

PLAN = next(plan for plan in map(draw_plan, range(100)) if len(plan.faults) > 9 and len(plan.workloads) > 3)


def test_only_what_the_failure_needs_is_left() -> None:
    needed_faults = {PLAN.faults[3], PLAN.faults[8]}
    needed_workload = PLAN.workloads[2]

    def still_fails(plan: ClusterPlan) -> bool:
        return needed_faults <= set(plan.faults) and needed_workload in plan.workloads

    found = shorten(PLAN, still_fails)
    assert found.faults == (3, 8)
    assert found.workloads == (2,)
    assert still_fails(found.plan)


def test_failure_that_needs_no_fault_at_all_loses_all_of_them() -> None:
    found = shorten(PLAN, lambda plan: True)
    assert found.faults == ()
    assert len(found.workloads) == 1


def test_failure_that_needs_everything_keeps_it_and_runs_stay_bounded() -> None:
    runs = 0

    def still_fails(plan: ClusterPlan) -> bool:
        nonlocal runs
        runs += 1
        return plan.faults == PLAN.faults and plan.workloads == PLAN.workloads

    found = shorten(PLAN, still_fails)
    assert found.faults == tuple(range(len(PLAN.faults)))
    assert runs <= RUNS_MAX
