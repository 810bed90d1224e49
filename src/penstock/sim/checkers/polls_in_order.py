"""A reader sees a partition in order, without a hole (*poll-skip*, *nonmonotonic-poll*)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import COMMITTED, UNCOMMITTED, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Follow every reader that assigned partitions to itself."""
    last: dict[tuple[str, str], int] = {}
    for poll in evidence.history.of(Function.POLL):
        if not poll.is_ok or poll.context not in (COMMITTED, UNCOMMITTED) or poll.key not in evidence.logs:
            continue
        log = evidence.logs[poll.key]
        expected = log.committed if poll.context == COMMITTED else log.records
        known = {offset for offset, _ in expected}
        reader = poll.process, poll.key
        for pair in poll.value:
            assert isinstance(pair, tuple)
            offset = int(pair[0])
            before = last.get(reader, -1)
            if offset <= before:
                yield f"{poll.process} read {poll.key}@{offset} after {before}"
            skipped = [each for each in range(before + 1, offset) if each in known]
            if skipped:
                yield f"{poll.process} read {poll.key}@{offset} after {before}, without {skipped[0]}"
            last[reader] = offset
