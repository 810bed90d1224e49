"""Offsets that a group committed are never lost, never go back, never come from nowhere (anomaly 15)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence, transactions
from penstock.sim.workloads.history import Ending, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare every answer, and the final state, with the commits before it."""
    fates = transactions(evidence.history)
    sure: dict[str, list[tuple[float, int]]] = {}
    possible: dict[str, set[int]] = {}
    for commit in evidence.history.of(Function.COMMIT_OFFSET):
        fate = fates.get(commit.context)
        if commit.context and fate is None:
            continue  # its process did not live to end the transaction
        ended = commit if fate is None else fate.end
        if commit.ending is not Ending.FAIL and (fate is None or fate.may_be_committed):
            possible.setdefault(commit.key, {-1}).add(commit.offset)
        if commit.is_ok and ended is not None and ended.is_ok and (fate is None or fate.is_committed):
            assert ended.completed_at is not None
            sure.setdefault(commit.key, []).append((ended.completed_at, commit.offset))
    for asked in evidence.history.of(Function.FETCH_OFFSET):
        if asked.is_ok:
            before = [offset for at, offset in sure.get(asked.key, ()) if at < asked.invoked_at]
            yield from _judge(asked.key, asked.offset, max(before, default=-1), possible)
    for key, offset in evidence.offsets.items():
        committed = max((each for _, each in sure.get(key, ())), default=-1)
        yield from _judge(key, offset, committed, possible)


def _judge(key: str, offset: int, committed: int, possible: dict[str, set[int]]) -> Iterator[str]:
    if offset < committed:
        yield f"{key}: {committed} was committed, {offset} is answered"
    if offset not in possible.get(key, {-1}):
        yield f"{key}: {offset} is answered, which nobody committed"
