"""What a person sees: progress, failures with the command that replays them, and the table of bugs."""

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from penstock.sim.cluster.bugs import BUGS, planted
from penstock.sim.cluster.cluster import Cluster
from penstock.sim.cluster.drawing import draw_plan
from penstock.sim.cluster.outcome import Outcome
from penstock.sim.cluster.plan import ClusterPlan
from penstock.sim.cluster.shortening import shorten
from penstock.sim.cluster.stories import is_told, story_column
from penstock.sim.parallel import in_order
from penstock.sim.runtime.world import unawaited_ignored

PROGRESS_EVERY_S = 0.5
FAILURES_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to run, beside the seed."""

    #: How many brokers; None leaves that to the seed.
    node_count: int | None = None
    bug: str | None = None
    #: Numbers of faults and workloads to keep; None keeps all.
    faults: tuple[int, ...] | None = None
    workloads: tuple[int, ...] | None = None

    @property
    def title(self) -> str:
        """What is run, in a few words."""
        return "clusters" if self.node_count is None else f"clusters of {self.node_count}"

    def plan(self, seed: int) -> ClusterPlan:
        """The plan that this choice makes of a seed."""
        whole = draw_plan(seed, node_count=self.node_count)
        if self.faults is None and self.workloads is None:
            return whole
        return whole.shortened(self.faults, self.workloads)

    def command(self, seed: int) -> str:
        """What to type to see it again."""
        parts = [f"python -m penstock.sim cluster --seed {seed}"]
        if self.node_count is not None:
            parts.append(f"--nodes {self.node_count}")
        if self.bug is not None:
            parts.append(f"--bug {self.bug}")
        for option, numbers in (("faults", self.faults), ("workloads", self.workloads)):
            if numbers is not None:
                parts.append(f"--{option} {','.join(map(str, numbers)) or 'none'}")
        return " ".join(parts)


class Measured(NamedTuple):
    """A run and what it cost."""

    outcome: Outcome
    cpu_seconds: float


def run_seed(seed: int, choice: Choice) -> Outcome:
    """Draw the seed's plan and do it."""
    with planted(choice.bug), collected_afterwards():
        return Cluster(choice.plan(seed)).run()


def measure_seed(seed: int, choice: Choice) -> Measured:
    """The same, with a look at the clock."""
    started = time.process_time()
    outcome = run_seed(seed, choice)
    return Measured(outcome, time.process_time() - started)


def run_seeds(seeds: Sequence[int], choice: Choice, *, jobs: int = 1) -> int:
    """Explore, and say what was found; 1 when a promise was broken."""
    about = f", with the bug {choice.bug!r}" if choice.bug else ""
    print(f"{choice.title}: seeds {seeds[0]} to {seeds[-1]}{about}")
    runs = list(_with_progress(seeds, choice, jobs))
    outcomes = [run.outcome for run in runs]
    seconds = sum(run.cpu_seconds for run in runs)
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in failures[:FAILURES_SHOWN_MAX]:
        print(f"FAILED seed {outcome.seed}: {outcome.rule}: {outcome.what}")
        print(f"  replay: {choice.command(outcome.seed)}")
    print(summary(outcomes, seconds))
    return 1 if failures else 0


def replay_seed(seed: int, choice: Choice, *, with_history: bool = False) -> int:
    """Run one seed and tell everything that happened in it."""
    plan = choice.plan(seed)
    print(choice.command(seed))
    print(plan.environment)
    for settings in (*plan.nodes, *plan.topics, *plan.workloads):
        print(f"  {settings}")
    with planted(choice.bug), collected_afterwards():
        cluster = Cluster(plan)
        outcome = cluster.run()
    for line in cluster.story:
        print(line)
    for operation in cluster.history if with_history else ():
        print(operation)
    print(f"digest {outcome.digest:08x} after {outcome.steps} steps, {outcome.operations} operations")
    if outcome.is_good:
        print("good")
        return 0
    print(f"FAILED seed {seed}: {outcome.rule}: {outcome.what}")
    return 1


def shorten_seed(seed: int, choice: Choice) -> int:
    """Find out which faults and workloads a failure needs; 1 when there was one."""

    def fails(plan: ClusterPlan) -> str | None:
        with planted(choice.bug), collected_afterwards():
            return Cluster(plan).run().rule

    plan = choice.plan(seed)
    rule = fails(plan)
    if rule is None:
        print(f"seed {seed} is good")
        return 0
    found = shorten(plan, lambda shorter: fails(shorter) == rule)
    print(
        f"seed {seed} still fails ({rule}) with {len(found.faults)} faults, {len(found.workloads)} workloads:"
    )
    for fault in found.plan.faults:
        print(f"  {fault}")
    shorter = replace(choice, faults=found.faults, workloads=found.workloads)
    print(f"  replay: {shorter.command(seed)}")
    return 1


def measure_bugs(
    seeds: Sequence[int], choice: Choice, *, names: Iterable[str] | None = None, jobs: int = 1
) -> int:
    """Print, per planted bug, how many of the seeds notice it; 1 if one is neither noticed nor told."""
    chosen: list[str | None] = [*names] if names else [None, *BUGS]
    print(f"{choice.title}: {len(seeds)} seeds from {seeds[0]} for each bug")
    print(bug_table_head())
    missed = 0
    for name in chosen:
        outcomes = list(in_order(partial(run_seed, choice=replace(choice, bug=name)), seeds, jobs=jobs))
        print(bug_table_row(name, outcomes), flush=True)
        is_noticed = any(not outcome.is_good for outcome in outcomes)
        missed += is_noticed if name is None else not is_noticed and not is_told(name)
    return 1 if missed else 0


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The last line of a run."""
    simulated = sum(outcome.simulated_seconds for outcome in outcomes)
    return (
        f"{sum(outcome.is_good for outcome in outcomes)} of {len(outcomes)} seeds good; "
        f"{sum(outcome.faults for outcome in outcomes)} faults, "
        f"{sum(outcome.operations for outcome in outcomes)} operations, "
        f"{sum(outcome.acknowledged for outcome in outcomes)} acknowledged records, "
        f"{simulated:,.0f} simulated seconds in {seconds:.1f} CPU-seconds: "
        f"{simulated / max(seconds, 1e-9):.0f} simulated seconds per CPU-second"
    )


def bug_table_head() -> str:
    """The first lines of the table, in Markdown."""
    columns = ("planted bug", "seeds that notice", "first seed", "most frequent symptom", "story")
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def bug_table_row(name: str | None, outcomes: Sequence[Outcome]) -> str:
    """One line of the table, in Markdown."""
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    symptoms = Counter(outcome.rule for outcome in failures)
    symptom = symptoms.most_common(1)[0][0] if symptoms else "-"
    first = failures[0].seed if failures else "-"
    label = "none" if name is None else f"{name}: {BUGS[name].what}"
    story = "-" if name is None else story_column(name)
    return f"| {label} | {len(failures)} of {len(outcomes)} | {first} | {symptom} | {story} |"


@contextmanager
def collected_afterwards() -> Iterator[None]:
    """Let the collector stay out of a run: what it frees, and when, must not matter to it.

    Afterwards it looks at what is young only. That is everything the run has made, and no module.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        with unawaited_ignored():
            gc.collect(0)


def _with_progress(seeds: Sequence[int], choice: Choice, jobs: int) -> Iterable[Measured]:
    shown = time.monotonic()
    failures = 0
    for number, run in enumerate(in_order(partial(measure_seed, choice=choice), seeds, jobs=jobs), start=1):
        failures += not run.outcome.is_good
        yield run
        if sys.stderr.isatty() and time.monotonic() - shown > PROGRESS_EVERY_S:
            shown = time.monotonic()
            print(f"\r{number} of {len(seeds)} seeds, {failures} failed", end="\r", file=sys.stderr)
