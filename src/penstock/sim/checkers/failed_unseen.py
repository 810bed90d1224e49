"""What failed is never read (*G1a*): a send that was refused, or a transaction that was aborted."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence, topic_of, transactions
from penstock.sim.workloads.history import COMMITTED, Ending, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare what was read with what cannot be there."""
    refused = {
        (topic_of(send.key), value)
        for send in evidence.history.of(Function.SEND)
        if send.ending is Ending.FAIL
        for value in send.value
    }
    refused -= {
        (topic_of(send.key), value)
        for send in evidence.history.of(Function.SEND)
        if send.ending is not Ending.FAIL
        for value in send.value
    }
    aborted = _aborted(evidence)
    for where, topic, value, isolation in _reads(evidence):
        if (topic, value) in refused:
            yield f"{value} was refused, and read at {where}"
        if isolation == COMMITTED and (topic, value) in aborted:
            yield f"{value} was aborted, and read as committed at {where}"


def _aborted(evidence: Evidence) -> set[tuple[str, object]]:
    """Values of transactions that were surely not committed; a copier may commit the same value later."""
    fates = transactions(evidence.history).values()
    lost = {(topic_of(send.key), value) for fate in fates for send in fate.sends for value in send.value}
    kept = {
        (topic_of(send.key), value)
        for fate in fates
        if fate.may_be_committed
        for send in fate.sends
        for value in send.value
    }
    return lost - kept


def _reads(evidence: Evidence) -> Iterator[tuple[str, str, object, str]]:
    for poll in evidence.history.of(Function.POLL):
        for pair in poll.value:
            assert isinstance(pair, tuple)
            yield f"{poll.key}@{pair[0]}", topic_of(poll.key), pair[1], poll.context
    for partition, log in evidence.logs.items():
        for offset, value in log.records:
            yield f"{partition}@{offset}", topic_of(partition), value, ""
        for offset, value in log.committed:
            yield f"{partition}@{offset}", topic_of(partition), value, COMMITTED
