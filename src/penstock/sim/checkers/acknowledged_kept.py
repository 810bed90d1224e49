"""No acknowledged record is lost (*lost-write*, *unseen*): each is where its producer was told.

Only what the leader alone acknowledged may be, and only if another has come to lead.
"""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Function


def check(evidence: Evidence) -> Iterator[str]:
    """Look for every acknowledged batch, record by record."""
    stored = {name: dict(log.records) for name, log in evidence.logs.items()}
    places = {name: {value: offset for offset, value in log.records} for name, log in evidence.logs.items()}
    for send in evidence.history.of(Function.SEND):
        if not send.is_ok or evidence.may_be_lost(send):
            continue
        if send.key not in stored:
            yield f"{send.value} was acknowledged in {send.key}, which is not there"
            continue
        for position, value in enumerate(send.value):
            if send.offset >= 0 and stored[send.key].get(send.offset + position) == value:
                continue
            found = places[send.key].get(str(value))
            if found is None:
                yield f"{value} was acknowledged at {send.key}@{send.offset + position} and is not there"
            elif send.offset >= 0:
                yield f"{value} was acknowledged at {send.key}@{send.offset + position}, but is at {found}"
