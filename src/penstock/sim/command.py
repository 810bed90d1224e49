"""The command line of the simulators.

``storage`` and ``compaction`` explore seeds, or replay one and tell its story; ``bugs`` plants each known
mistake in turn and counts the seeds that notice it. ``raft`` and ``raft-bugs`` do the same to consensus,
``cluster`` and ``cluster-bugs`` to whole brokers.
"""

import argparse
from collections.abc import Sequence

from penstock.sim.cluster import command as cluster
from penstock.sim.raft import command as raft
from penstock.sim.storage.bugs import BUGS
from penstock.sim.storage.reporting import measure_bugs, replay_seed, run_seeds


def main(arguments: Sequence[str]) -> int:
    """Run a command; the exit code is 0 only if everything was as it should be."""
    options = _parser().parse_args(arguments)
    if options.command in raft.COMMANDS:
        return raft.run(options)
    if options.command in cluster.COMMANDS:
        return cluster.run(options)
    if options.command == "bugs":
        return measure_bugs(range(options.first, options.first + options.seeds), names=options.only)
    if options.seed is not None:
        return replay_seed(options.seed, bug=options.bug, workload=options.command)
    seeds = range(options.first, options.first + options.seeds)
    return run_seeds(seeds, bug=options.bug, workload=options.command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m penstock.sim", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    names = sorted(BUGS)
    for workload, what in (
        ("storage", "outages and rot do to logs"),
        ("compaction", "outages do to compaction"),
    ):
        explored = commands.add_parser(workload, help=f"explore what {what}")
        explored.add_argument("--seeds", type=int, default=200, help="how many seeds to run")
        explored.add_argument("--first", type=int, default=0, help="the first of them")
        explored.add_argument("--seed", type=int, help="replay one seed and tell its story")
        explored.add_argument("--bug", choices=names, help="plant a bug first")
    bugs = commands.add_parser("bugs", help="measure how often each planted bug is noticed")
    bugs.add_argument("--seeds", type=int, default=200, help="how many seeds to run for each bug")
    bugs.add_argument("--first", type=int, default=0, help="the first of them")
    bugs.add_argument("--only", action="append", choices=names, help="this bug only; may be repeated")
    raft.add_commands(commands)
    cluster.add_commands(commands)
    return parser
