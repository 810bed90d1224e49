"""Readers of committed records never pass an open transaction: nothing is read before its commit was asked
for (anomaly 21, the last stable offset too high)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence, topic_of, transactions
from penstock.sim.workloads.history import COMMITTED, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare when a value was read with when its commit was asked for."""
    earliest: dict[tuple[str, object], float] = {}
    for fate in transactions(evidence.history).values():
        asked = fate.end.invoked_at if fate.end is not None and fate.may_be_committed else float("inf")
        for send in fate.sends:
            for value in send.value:
                place = topic_of(send.key), value
                earliest[place] = min(asked, earliest.get(place, float("inf")))
    for poll in evidence.history.of(Function.POLL):
        if poll.context != COMMITTED or poll.completed_at is None:
            continue
        for pair in poll.value:
            assert isinstance(pair, tuple)
            asked = earliest.get((topic_of(poll.key), pair[1]), -1.0)
            if poll.completed_at < asked:
                yield f"{pair[1]} was read at {poll.key}@{pair[0]} while its transaction was open"
