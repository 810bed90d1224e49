"""No group's committed offset lies beyond what its partition holds (anomaly 16)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence


def check(evidence: Evidence) -> Iterator[str]:
    """Compare the final offsets with the final logs."""
    for key, offset in evidence.offsets.items():
        partition = key.partition("/")[2]
        log = evidence.logs.get(partition)
        if log is not None and offset > log.high_watermark:
            yield f"{key}: {offset} is committed, but the log ends at {log.high_watermark}"
