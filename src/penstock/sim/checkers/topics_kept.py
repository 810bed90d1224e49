"""Changes of topics that were acknowledged hold: what was made is there, what was deleted stays away."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Ending, Function, Operation

_CHANGES = (Function.CREATE_TOPIC, Function.GROW_TOPIC, Function.DELETE_TOPIC)


def check(evidence: Evidence) -> Iterator[str]:
    """Replay each topic's changes, as far as they are known."""
    changes: dict[str, list[Operation]] = {}
    for operation in evidence.history:
        if operation.function in _CHANGES and operation.ending is not Ending.FAIL:
            changes.setdefault(operation.key, []).append(operation)
    for topic, done in changes.items():
        if any(not change.is_ok for change in done[:-1]):
            continue  # its creator does not touch a topic again about which it is in doubt
        yield from _judge(topic, done, evidence.topics.get(topic))


def _judge(topic: str, done: list[Operation], partitions: int | None) -> Iterator[str]:
    last = done[-1]
    allowed = {_after(last)} if last.is_ok else {_after(last), _after(done[-2]) if len(done) > 1 else None}
    if partitions not in allowed:
        yield f"{topic} has {partitions} partitions, which does not follow from {last}"


def _after(change: Operation) -> int | None:
    return None if change.function is Function.DELETE_TOPIC else change.offset
