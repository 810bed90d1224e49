"""Which parts of a failing plan matter: take away as much as possible while it still fails the same way.

First workloads, one by one, since each of them costs the most time; then faults, in ever smaller portions.
What is left is named by numbers, so that a seed and two lists replay it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from penstock.sim.cluster.plan import ClusterPlan

RUNS_MAX = 200

StillFails = Callable[[ClusterPlan], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """What is left of a plan."""

    plan: ClusterPlan
    faults: tuple[int, ...]
    workloads: tuple[int, ...]


def shorten(plan: ClusterPlan, still_fails: StillFails) -> Shortened:
    """The least that still fails, as far as a bounded number of runs can tell."""
    runs = _Runs(plan, still_fails)
    faults = tuple(range(len(plan.faults)))
    workloads = tuple(range(len(plan.workloads)))
    faults = _reduce(faults, lambda kept: runs.fail(kept, workloads))
    workloads = _reduce(workloads, lambda kept: bool(kept) and runs.fail(faults, kept))
    faults = _reduce(faults, lambda kept: runs.fail(kept, workloads))
    return Shortened(plan=plan.shortened(faults, workloads), faults=faults, workloads=workloads)


class _Runs:
    """Counts the runs, and stops believing in shorter plans when there have been too many."""

    def __init__(self, plan: ClusterPlan, still_fails: StillFails) -> None:
        self._plan = plan
        self._still_fails = still_fails
        self._left = RUNS_MAX

    def fail(self, faults: tuple[int, ...], workloads: tuple[int, ...]) -> bool:
        """Whether the plan with only these still fails."""
        self._left -= 1
        return self._left >= 0 and self._still_fails(self._plan.shortened(faults, workloads))


def _reduce(numbers: tuple[int, ...], fails: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """Drop portions, half of them first, single ones last, as long as that changes nothing."""
    size = max(1, len(numbers) // 2)
    while numbers:
        for start in range(0, len(numbers), size):
            kept = numbers[:start] + numbers[start + size :]
            if fails(kept):
                numbers = kept
                break
        else:
            if size == 1:
                break
            size = max(1, size // 2)
        size = min(size, max(1, len(numbers)))
    return numbers
