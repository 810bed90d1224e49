"""What a person sees: progress, failures with the command that replays them, and the table of bugs."""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence

from penstock.sim.planting import planted
from penstock.sim.raft.bugs import BUGS
from penstock.sim.raft.drawing import draw_plan
from penstock.sim.raft.outcome import Outcome
from penstock.sim.raft.shortening import shorten, with_faults
from penstock.sim.raft.world import RaftWorld

PROGRESS_EVERY_S = 0.5
FAILURES_SHOWN_MAX = 10


def run_seed(seed: int, *, bug: str | None = None) -> Outcome:
    """Draw the seed's plan and do it, with a bug planted if one is named."""
    with planted(BUGS[bug] if bug else None):
        return RaftWorld(draw_plan(seed)).run()


def run_seeds(seeds: Sequence[int], *, bug: str | None = None) -> int:
    """Explore, and say what was found; 1 when a promise was broken."""
    print(f"raft: seeds {seeds[0]} to {seeds[-1]}" + (f", with the bug {bug!r}" if bug else ""))
    started = time.process_time()
    outcomes = list(_with_progress(seeds, bug))
    seconds = time.process_time() - started
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in failures[:FAILURES_SHOWN_MAX]:
        print(f"FAILED seed {outcome.seed}: {outcome.rule}: {outcome.what}")
        print(f"  replay: {replay_command(outcome.seed, bug)}")
    print(summary(outcomes, seconds))
    return 1 if failures else 0


def replay_seed(seed: int, *, bug: str | None = None, faults: tuple[int, ...] | None = None) -> int:
    """Run one seed, or what is left of it with only some faults, and tell everything that happened."""
    print(f"seed {seed}" + (f", with the bug {bug!r}" if bug else ""))
    plan = draw_plan(seed)
    with planted(BUGS[bug] if bug else None):
        world = RaftWorld(plan if faults is None else with_faults(plan, faults))
        outcome = world.run()
    print(world.plan)
    for line in world.story:
        print(line)
    if outcome.is_good:
        print(f"good: {outcome.steps} steps, {outcome.committed} offsets, digest {outcome.digest:08x}")
        return 0
    print(f"FAILED seed {seed}: {outcome.rule}: {outcome.what}")
    print(f"  replay: {replay_command(seed, bug, faults)}")
    return 1


def shorten_seed(seed: int, *, bug: str | None = None) -> int:
    """Find out which faults a failing seed needs, and print how to replay it with those."""
    plan = draw_plan(seed)
    with planted(BUGS[bug] if bug else None):
        outcome = RaftWorld(plan).run()
        if outcome.is_good:
            print(f"seed {seed} is good")
            return 0
        needed = shorten(plan, lambda shorter: RaftWorld(shorter).run().rule == outcome.rule)
    print(f"seed {seed}: {outcome.rule}: {len(needed)} of {len(plan.faults)} faults are needed")
    for number in needed:
        print(f"  {number}: {plan.faults[number]}")
    print(f"  replay: {replay_command(seed, bug, needed)}")
    return 1


def measure_bugs(seeds: Sequence[int], *, names: Sequence[str] | None = None) -> int:
    """Print, per planted bug, in how many of the seeds it was noticed; 1 if the code without one failed."""
    print(f"raft: {len(seeds)} seeds from {seeds[0]} for each bug")
    print(bug_table_head())
    is_clean = True
    for name in (None, *(names or BUGS)):
        outcomes = [run_seed(seed, bug=name) for seed in seeds]
        print(bug_table_row(name, outcomes), flush=True)
        is_clean = is_clean and (name is not None or all(outcome.is_good for outcome in outcomes))
    return 0 if is_clean else 1


def replay_command(seed: int, bug: str | None, faults: tuple[int, ...] | None = None) -> str:
    """What to type to see it again."""
    only = "" if faults is None else f" --faults {','.join(map(str, faults)) or 'none'}"
    return f"python -m penstock.sim raft --seed {seed}" + (f" --bug {bug}" if bug else "") + only


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The last line of a run; ``seconds`` are the processor's."""
    steps = sum(outcome.steps for outcome in outcomes)
    simulated = sum(outcome.simulated_ms for outcome in outcomes) / 1000
    return (
        f"{sum(outcome.is_good for outcome in outcomes)} of {len(outcomes)} seeds good; "
        f"{sum(outcome.elections for outcome in outcomes)} elections, "
        f"{sum(outcome.faults for outcome in outcomes)} faults, {simulated:,.0f} simulated seconds, "
        f"{steps} steps in {seconds:.1f} CPU-s: {len(outcomes) / seconds:.1f} seeds, {steps / seconds:,.0f} "
        f"steps, {simulated / seconds:,.0f} simulated seconds per CPU-s"
    )


def bug_table_head() -> str:
    """The first lines of the table, in Markdown."""
    return "| planted bug | seeds that notice | first seed | most frequent symptom |\n|---|---|---|---|"


def bug_table_row(name: str | None, outcomes: Sequence[Outcome]) -> str:
    """One line of the table, in Markdown."""
    failures = [outcome for outcome in outcomes if not outcome.is_good]
    symptoms = Counter(outcome.rule for outcome in failures)
    symptom = symptoms.most_common(1)[0][0] if symptoms else "-"
    first = failures[0].seed if failures else "-"
    label = "none" if name is None else f"{name}: {BUGS[name].what}"
    return f"| {label} | {len(failures)} of {len(outcomes)} | {first} | {symptom} |"


def _with_progress(seeds: Sequence[int], bug: str | None) -> Iterable[Outcome]:
    shown = time.perf_counter()
    failures = 0
    for number, seed in enumerate(seeds, start=1):
        outcome = run_seed(seed, bug=bug)
        failures += not outcome.is_good
        yield outcome
        if sys.stderr.isatty() and time.perf_counter() - shown > PROGRESS_EVERY_S:
            shown = time.perf_counter()
            print(f"\r{number} of {len(seeds)} seeds, {failures} failed", end="\r", file=sys.stderr)
