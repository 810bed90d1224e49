"""Which faults of a failing plan matter: leave out one by one what it fails the same way without."""

from collections.abc import Callable
from dataclasses import replace

from penstock.sim.raft.plan import RaftPlan

PASSES_MAX = 4


def with_faults(plan: RaftPlan, numbers: tuple[int, ...]) -> RaftPlan:
    """The plan with only the faults of these numbers."""
    return replace(plan, faults=tuple(plan.faults[number] for number in numbers))


def shorten(plan: RaftPlan, still_fails: Callable[[RaftPlan], bool]) -> tuple[int, ...]:
    """The numbers of faults without any of which the plan no longer fails; later ones are left out first."""
    kept = tuple(range(len(plan.faults)))
    for _ in range(PASSES_MAX):
        before = kept
        for number in reversed(before):
            fewer = tuple(other for other in kept if other != number)
            if still_fails(with_faults(plan, fewer)):
                kept = fewer
        if kept == before:
            break
    return kept
