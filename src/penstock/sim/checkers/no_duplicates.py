"""No value stands twice in a topic (*duplicate*): retries of idempotent producers are recognised, and nobody
else retries. For copies the same follows from exactly-once."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence, topic_of


def check(evidence: Evidence) -> Iterator[str]:
    """Look at the final logs; what was aborted may be written anew."""
    targets = {copied.target for copied in evidence.copies}
    seen: dict[tuple[str, str], str] = {}
    for partition, log in evidence.logs.items():
        topic = topic_of(partition)
        for offset, value in log.committed if topic in targets else log.records:
            place = f"{partition}@{offset}"
            before = seen.setdefault((topic, value), place)
            if before != place:
                yield f"{value} is at {before} and at {place}"
