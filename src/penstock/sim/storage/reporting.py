"""What a person sees: progress, failures with the command that replays them, and the table of bugs."""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from penstock.sim.storage.bugs import BUGS, planted
from penstock.sim.storage.drawing import draw_compaction_plan, draw_plan
from penstock.sim.storage.outcome import Outcome
from penstock.sim.storage.world import StorageWorld

PROGRESS_EVERY_S = 0.5
FAILURES_SHOWN_MAX = 10


WORKLOADS = {"storage": draw_plan, "compaction": draw_compaction_plan}


def run_seed(seed: int, *, bug: str | None = None, workload: str = "storage") -> Outcome:
    """Draw the seed's plan and do it, with a bug planted if one is named."""
    with planted(bug):
        return StorageWorld(WORKLOADS[workload](seed)).run()


def run_seeds(seeds: Sequence[int], *, bug: str | None = None, workload: str = "storage") -> int:
    """Explore, and say what was found; 1 when a promise was broken."""
    print(f"{workload}: seeds {seeds[0]} to {seeds[-1]}" + (f", with the bug {bug!r}" if bug else ""))
    started = time.perf_counter()
    outcomes = list(_with_progress(seeds, bug, workload))
    seconds = time.perf_counter() - started
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in failures[:FAILURES_SHOWN_MAX]:
        print(f"FAILED seed {outcome.seed}: {outcome.rule}: {outcome.what}")
        print(f"  replay: {replay_command(outcome.seed, bug, workload)}")
    print(summary(outcomes, seconds))
    return 1 if failures else 0


def replay_seed(seed: int, *, bug: str | None = None, workload: str = "storage") -> int:
    """Run one seed and tell everything that happened in it."""
    print(f"seed {seed}" + (f", with the bug {bug!r}" if bug else ""))
    with planted(bug):
        world = StorageWorld(WORKLOADS[workload](seed))
        outcome = world.run()
    print(f"{world.plan.settings}")
    for line in world.story:
        print(line)
    if outcome.is_good:
        print(f"good: {outcome.operations} operations, {outcome.starts} starts, digest {outcome.digest:08x}")
        return 0
    print(f"FAILED seed {seed}: {outcome.rule}: {outcome.what}")
    print(f"  replay: {replay_command(seed, bug, workload)}")
    return 1


def measure_bugs(seeds: Sequence[int], *, names: Sequence[str] | None = None) -> int:
    """Print, per planted bug, in how many of the seeds it was noticed; 1 if one never was."""
    chosen = names or [*BUGS]
    print(f"{len(seeds)} seeds from {seeds[0]} for each bug")
    print(bug_table_head())
    missed = 0
    for workload in WORKLOADS:
        bugs = [name for name in chosen if BUGS[name].workload == workload]
        if bugs:
            missed += sum(not _measure(name, seeds, workload) for name in (None, *bugs))
    return 1 if missed else 0


def _measure(name: str | None, seeds: Sequence[int], workload: str) -> bool:
    """Print a row of the table; whether it is as it should be."""
    outcomes = [run_seed(seed, bug=name, workload=workload) for seed in seeds]
    print(bug_table_row(name, outcomes, workload), flush=True)
    return any(not outcome.is_good for outcome in outcomes) == (name is not None)


def replay_command(seed: int, bug: str | None, workload: str = "storage") -> str:
    """What to type to see it again."""
    return f"python -m penstock.sim {workload} --seed {seed}" + (f" --bug {bug}" if bug else "")


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The last line of a run."""
    operations = sum(outcome.operations for outcome in outcomes)
    good = sum(outcome.is_good for outcome in outcomes)
    return (
        f"{good} of {len(outcomes)} seeds good; {sum(outcome.starts for outcome in outcomes)} starts, "
        f"{sum(outcome.faults for outcome in outcomes)} faults, {operations} operations in {seconds:.1f} s, "
        f"{operations / seconds:,.0f} operations/s"
    )


def bug_table_head() -> str:
    """The first lines of the table, in Markdown."""
    return "| planted bug | seeds that notice | first seed | most frequent symptom |\n|---|---|---|---|"


def bug_table_row(name: str | None, outcomes: Sequence[Outcome], workload: str = "storage") -> str:
    """One line of the table, in Markdown."""
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    symptoms = Counter(outcome.rule for outcome in failures)
    symptom = symptoms.most_common(1)[0][0] if symptoms else "-"
    first = failures[0].seed if failures else "-"
    nothing = "none" if workload == "storage" else f"none, in {workload}"
    label = nothing if name is None else f"{name}: {BUGS[name].what}"
    return f"| {label} | {len(failures)} of {len(outcomes)} | {first} | {symptom} |"


def _with_progress(seeds: Sequence[int], bug: str | None, workload: str) -> Iterable[Outcome]:
    shown = time.perf_counter()
    failures = 0
    for number, seed in enumerate(seeds, start=1):
        outcome = run_seed(seed, bug=bug, workload=workload)
        failures += not outcome.is_good
        yield outcome
        if sys.stderr.isatty() and time.perf_counter() - shown > PROGRESS_EVERY_S:
            shown = time.perf_counter()
            print(f"\r{number} of {len(seeds)} seeds, {failures} failed", end="\r", file=sys.stderr)
