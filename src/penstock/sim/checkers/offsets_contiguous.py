"""Logs have no holes: from their start to the high watermark every offset is there."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence


def check(evidence: Evidence) -> Iterator[str]:
    """Walk the final logs, batch by batch."""
    for partition, log in evidence.logs.items():
        expected = log.log_start_offset
        for header in log.headers:
            if header.base_offset != expected:
                yield f"{partition} has {header.base_offset} where {expected} comes next"
            expected = header.next_offset
        if expected != log.high_watermark:
            yield f"{partition} ends at {expected}, but its high watermark is {log.high_watermark}"
