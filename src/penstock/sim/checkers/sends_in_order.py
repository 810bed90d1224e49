"""A producer's batches stand in the order it sent them (*nonmonotonic-send*, *int-nonmonotonic-send*)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Function


def check(evidence: Evidence) -> Iterator[str]:
    """Follow the acknowledged offsets of every producer and partition."""
    last: dict[tuple[str, str], int] = {}
    for send in evidence.history.of(Function.SEND):
        if not send.is_ok or send.offset < 0 or evidence.may_be_lost(send):
            continue
        producer = send.process, send.key
        if send.offset <= last.get(producer, -1):
            yield f"{send.process} got {send.key}@{send.offset} after {last[producer]}"
        last[producer] = send.offset + len(send.value) - 1
