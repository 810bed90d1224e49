"""What whoever started a broker learns of it once clients may connect, as a line of text or of JSON.

No more than that line: how the broker fares from there on is told by its log, metrics and health.
"""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """A broker that is ready."""

    address: str
    node: int
    cluster: str
    #: ``HOST:PORT``; None when metrics are off.
    metrics: str | None


def ready_text(readiness: Readiness) -> str:
    """For people, and for programs that want the address alone."""
    return f"penstock ready on {readiness.address}"


def ready_json(readiness: Readiness) -> str:
    """For programs that want to know more."""
    return json.dumps(asdict(readiness))
