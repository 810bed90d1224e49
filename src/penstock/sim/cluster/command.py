"""The commands of the cluster's simulator."""

import argparse
from typing import Any

from penstock.sim.cluster.bugs import BUGS
from penstock.sim.cluster.reporting import Choice, measure_bugs, replay_seed, run_seeds, shorten_seed

COMMANDS = ("cluster", "cluster-bugs")
NODES_MAX = 5


def add_commands(commands: Any) -> None:
    """Make the commands known to a parser."""
    names = sorted(BUGS)
    explored = commands.add_parser("cluster", help="explore what faults do to whole brokers")
    explored.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    explored.add_argument("--first", type=int, default=0, help="the first of them")
    explored.add_argument("--nodes", type=int, help="how many brokers; otherwise the seed draws it")
    explored.add_argument("--jobs", type=int, default=1, help="how many seeds to run at a time")
    explored.add_argument("--bug", choices=names, help="plant a bug first")
    explored.add_argument("--seed", type=int, help="replay one seed and tell its story")
    explored.add_argument("--history", action="store_true", help="tell also what every client was told")
    explored.add_argument("--shorten", action="store_true", help="find out what the seed's failure needs")
    explored.add_argument("--faults", type=_numbers, help="keep only the faults of these numbers, or none")
    explored.add_argument("--workloads", type=_numbers, help="keep only the workloads of these numbers")
    bugs = commands.add_parser("cluster-bugs", help="measure how often each bug in a broker is noticed")
    bugs.add_argument("--seeds", type=int, default=200, help="how many seeds to run for each bug")
    bugs.add_argument("--first", type=int, default=0, help="the first of them")
    bugs.add_argument("--nodes", type=int, help="how many brokers; otherwise the seed draws it")
    bugs.add_argument("--jobs", type=int, default=1, help="how many seeds to run at a time")
    bugs.add_argument("--only", action="append", choices=names, help="this bug only; may be repeated")


def run(options: argparse.Namespace) -> int:
    """Run one of the commands; the exit code is 0 only if everything was as it should be."""
    if options.nodes is not None and not 1 <= options.nodes <= NODES_MAX:
        raise SystemExit(f"--nodes {options.nodes}: 1 to {NODES_MAX} brokers are simulated")
    seeds = range(options.first, options.first + options.seeds)
    if options.command == "cluster-bugs":
        return measure_bugs(seeds, Choice(node_count=options.nodes), names=options.only, jobs=options.jobs)
    choice = Choice(
        node_count=options.nodes, bug=options.bug, faults=options.faults, workloads=options.workloads
    )
    if options.seed is None:
        return run_seeds(seeds, choice, jobs=options.jobs)
    if options.shorten:
        return shorten_seed(options.seed, choice)
    return replay_seed(options.seed, choice, with_history=options.history)


def _numbers(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(map(int, text.split(",")))
