"""Who could read until the end has read everything, and groups have committed that (*unseen*).

Without it a reader of a replica that stands still, and a group that commits nothing, were content.
"""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import COMMITTED, Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare where each reader and group has come with where the log ends."""
    read: dict[tuple[str, str], int] = {}
    for poll in evidence.history.of(Function.POLL):
        if poll.is_ok and poll.process in evidence.finished:
            for pair in poll.value:
                assert isinstance(pair, tuple)
                read[poll.process, poll.key] = int(pair[0])
    for process, (topic, isolation) in evidence.finished.items():
        for name, log in evidence.of_topic(topic):
            records = log.committed if isolation == COMMITTED else log.records
            if records and read.get((process, name), -1) < records[-1][0]:
                last = read.get((process, name), -1)
                yield f"{process} has read {name} up to {last}, though there is {records[-1][0]}"
    for key, offset in evidence.offsets.items():
        group, _, partition = key.partition("/")
        log_of = evidence.logs.get(partition)
        if group in evidence.finished_groups and log_of is not None and log_of.records:
            last = log_of.records[-1][0]
            if offset <= last:
                yield f"{group} has committed {offset} in {partition}, though there is {last}"
