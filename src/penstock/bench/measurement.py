"""What a benchmark found: how much, how long, how late."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_NANOSECONDS_PER_MILLISECOND = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Of a set of waiting times, in milliseconds."""

    p50_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One line of a table.

    ``bytes`` counts whole batches as they lie in the log, or with librdkafka, which hides them, the records'
    values. ``facts`` are further figures of this one kind of benchmark, by name.
    """

    name: str
    client: str
    records: int
    bytes: int
    seconds: float
    requests: int | None = None
    latency: Percentiles | None = None
    facts: dict[str, float | str] | None = None

    @property
    def records_per_second(self) -> float:
        """Records in a second."""
        return self.records / self.seconds

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes in a second."""
        return self.bytes / self.seconds / 1e6

    @property
    def requests_per_second(self) -> float | None:
        """Requests in a second, where requests were counted."""
        return None if self.requests is None else self.requests / self.seconds

    def as_json(self) -> dict[str, Any]:
        """The figures and the rates that follow from them."""
        return asdict(self) | {
            "records_per_second": round(self.records_per_second, 1),
            "megabytes_per_second": round(self.megabytes_per_second, 3),
            "requests_per_second": self.requests_per_second and round(self.requests_per_second, 1),
        }


def percentiles_of(waits_ns: Sequence[int]) -> Percentiles | None:
    """The percentiles of waiting times in nanoseconds; None when there are none."""
    if not waits_ns:
        return None
    ordered = sorted(waits_ns)
    return Percentiles(
        p50_ms=_at(ordered, 0.50),
        p99_ms=_at(ordered, 0.99),
        p999_ms=_at(ordered, 0.999),
        max_ms=_at(ordered, 1.0),
        count=len(ordered),
    )


def _at(ordered: Sequence[int], share: float) -> float:
    """The smallest value that at least ``share`` of all do not exceed (nearest rank)."""
    rank = max(1, -int(-share * len(ordered) // 1))
    return round(ordered[rank - 1] / _NANOSECONDS_PER_MILLISECOND, 4)
