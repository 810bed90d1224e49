"""Counts by size: how many values were at most so large."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.broker.metrics.metric import Sample

LATENCY_BOUNDS_SECONDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
"""From a tenth of the quickest flush to what clients wait for at most."""

_le = [f'le="{bound}"' for bound in (*LATENCY_BOUNDS_SECONDS, "+Inf")]


class Histogram:
    """Of times in seconds. ``observe`` is two additions and a search."""

    __slots__ = ("_counts", "total_seconds")

    def __init__(self) -> None:
        self._counts = [0] * (len(LATENCY_BOUNDS_SECONDS) + 1)
        self.total_seconds = 0.0

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self._counts)

    @property
    def counts(self) -> Sequence[int]:
        """How many values there were in each bucket, those beyond all bounds last."""
        return self._counts

    def observe(self, seconds: float) -> None:
        """Count one value."""
        self._counts[bisect_left(LATENCY_BOUNDS_SECONDS, seconds)] += 1
        self.total_seconds += seconds

    def samples(self, labels: str = "") -> "Iterator[Sample]":
        """As Prometheus has it, cumulative; ``labels`` is a label part without its braces."""
        counts = list(self._counts)  # all samples are of one moment
        total_seconds = self.total_seconds
        comma = "," if labels else ""
        reached = 0
        for text, count in zip(_le, counts, strict=True):
            reached += count
            yield f"_bucket{{{labels}{comma}{text}}}", reached
        braces = f"{{{labels}}}" if labels else ""
        yield f"_sum{braces}", total_seconds
        yield f"_count{braces}", reached
