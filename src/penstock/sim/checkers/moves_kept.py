"""Moves that were acknowledged come to their end: a partition is where it was last sent to."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Ending, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare final replicas with what was asked for; a move in doubt may begin at any time."""
    last: dict[str, frozenset[object]] = {}
    doubtful: dict[str, set[frozenset[object]]] = {}
    for move in evidence.history.of(Function.REASSIGN):
        if move.is_ok:
            last[move.key] = frozenset(move.value)
        elif move.ending is not Ending.FAIL:
            doubtful.setdefault(move.key, set()).add(frozenset(move.value))
    for partition, wanted in last.items():
        if partition not in evidence.replicas:
            continue
        found = frozenset[object](evidence.replicas[partition])
        if found != wanted and found not in doubtful.get(partition, set()):
            yield f"{partition} was sent to {sorted(map(str, wanted))}, and is on {sorted(map(str, found))}"
