"""A copy made in transactions holds what the source holds, each record once and in order."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence


def check(evidence: Evidence) -> Iterator[str]:
    """Compare what readers of committed records get from source and target, partition by partition."""
    for copied in evidence.copies:
        for number in range(copied.partition_count):
            source = evidence.logs[f"{copied.source}-{number}"]
            target = evidence.logs[f"{copied.target}-{number}"]
            wanted = [value for _, value in source.committed]
            found = [value for _, value in target.committed]
            if not copied.is_finished:
                wanted = wanted[: len(found)]
            yield from _compare(f"{copied.target}-{number}", wanted, found)


def _compare(name: str, wanted: list[str], found: list[str]) -> Iterator[str]:
    for place, (expected, value) in enumerate(zip(wanted, found, strict=False)):
        if expected != value:
            yield f"{name}: record {place} of the copy is {value}, the source has {expected} there"
            return
    if len(found) > len(wanted):
        yield f"{name}: the copy has {len(found)} records, the source {len(wanted)}"
    elif len(found) < len(wanted):
        yield f"{name}: the copy ends before {wanted[len(found)]}, although it had time to catch up"
