"""In one generation of a group a partition belongs to one member (anomaly 17)."""

from collections.abc import Iterator

from penstock.sim.checkers.evidence import Evidence
from penstock.sim.workloads.history import Function


def check(evidence: Evidence) -> Iterator[str]:
    """Compare what members of one generation were told."""
    owners: dict[tuple[str, object], str] = {}
    for owned in evidence.history.of(Function.OWN):
        for partition in owned.value:
            owner = owners.setdefault((owned.key, partition), owned.process)
            if owner != owned.process:
                yield f"partition {partition} belongs to {owner} and to {owned.process} in {owned.key}"
