"""The part of the simulators' command line that is about Raft: ``raft`` and ``raft-bugs``."""

import argparse

from penstock.sim.raft.bugs import BUGS
from penstock.sim.raft.reporting import measure_bugs, replay_seed, run_seeds, shorten_seed

COMMANDS = ("raft", "raft-bugs")


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Offer them."""
    names = sorted(BUGS)
    explored = commands.add_parser("raft", help="explore what crashes and cuts do to a Raft cluster")
    explored.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
    explored.add_argument("--first", type=int, default=0, help="the first of them")
    explored.add_argument("--seed", type=int, help="replay one seed and tell its story")
    explored.add_argument("--bug", choices=names, help="plant a bug first")
    explored.add_argument("--shorten", action="store_true", help="find out which faults of a seed matter")
    explored.add_argument("--faults", type=_numbers, help="replay with only these faults: 0,3,17 or none")
    measured = commands.add_parser("raft-bugs", help="measure how often each bug planted in Raft is noticed")
    measured.add_argument("--seeds", type=int, default=200, help="how many seeds to run for each bug")
    measured.add_argument("--first", type=int, default=0, help="the first of them")
    measured.add_argument("--only", action="append", choices=names, help="this bug only; may be repeated")


def run(options: argparse.Namespace) -> int:
    """Do what was asked; 0 only if everything was as it should be."""
    seeds = range(options.first, options.first + options.seeds)
    if options.command == "raft-bugs":
        return measure_bugs(seeds, names=options.only)
    if options.seed is not None and options.shorten:
        return shorten_seed(options.seed, bug=options.bug)
    if options.seed is not None:
        return replay_seed(options.seed, bug=options.bug, faults=options.faults)
    return run_seeds(seeds, bug=options.bug)


def _numbers(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(int(number) for number in text.split(","))
