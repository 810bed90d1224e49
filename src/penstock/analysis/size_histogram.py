"""How large messages are: a histogram whose buckets grow with what they count.

Sizes below 128 bytes are counted one by one. Larger ones share a bucket with those that agree in their seven
leading bits, so that a percentile is off by less than one part in 64, and there are never more than a few
thousand buckets. Count, sum, smallest and largest are exact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_LEADING_BITS = 7
_EXACT_BELOW = 1 << _LEADING_BITS

PERCENTILES = (50, 90, 99)


class SizeHistogram:
    """Sizes, counted."""

    __slots__ = ("_buckets", "count", "largest", "smallest", "total")

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self.count = 0
        self.total = 0
        self.smallest = 0
        self.largest = 0

    def add(self, sizes: Sequence[int]) -> None:
        """Count these."""
        if not sizes:
            return
        smallest = min(sizes)
        self.smallest = min(self.smallest, smallest) if self.count else smallest
        self.largest = max(self.largest, max(sizes))
        self.count += len(sizes)
        self.total += sum(sizes)
        # Most messages of a batch are of few sizes: counting them first is done by C.
        self._fill(Counter(sizes).items())

    def add_counted(self, counts: Mapping[int, int], *, total: int, smallest: int, largest: int) -> None:
        """Count sizes that somebody else has counted: how many there are of each, or of each bucket."""
        if not counts:
            return
        self.smallest = min(self.smallest, smallest) if self.count else smallest
        self.largest = max(self.largest, largest)
        self.count += sum(counts.values())
        self.total += total
        self._fill(counts.items())

    def merge(self, other: "SizeHistogram") -> None:
        """Count all that the other has counted."""
        if other.count:
            self.smallest = min(self.smallest, other.smallest) if self.count else other.smallest
            self.largest = max(self.largest, other.largest)
            self.count += other.count
            self.total += other.total
            self._buckets.update(other._buckets)

    @property
    def mean(self) -> float:
        """The mean; 0 of nothing."""
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> int:
        """The size that ``percent`` of all messages do not exceed."""
        wanted = self.count * percent / 100
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(max(_middle(bucket), self.smallest), self.largest)
        return self.largest

    def by_power(self) -> dict[int, int]:
        """How many are at least as large as a power of two and smaller than the next; 0 stands for itself.

        Powers between the first and the last are all there.
        """
        powers: Counter[int] = Counter()
        for bucket, count in self._buckets.items():
            powers[bucket.bit_length()] += count
        if not powers:
            return {}
        return {(1 << bits) >> 1: powers[bits] for bits in range(min(powers), max(powers) + 1)}

    def as_json(self) -> dict[str, int | float]:
        """The usual figures under their names."""
        return {
            "mean": round(self.mean, 1),
            "min": self.smallest,
            **{f"p{percent}": self.percentile(percent) for percent in PERCENTILES},
            "max": self.largest,
        }

    def _fill(self, counted: Iterable[tuple[int, int]]) -> None:
        buckets = self._buckets
        for size, count in counted:
            shift = max(0, size.bit_length() - _LEADING_BITS)
            buckets[size >> shift << shift] += count


def _middle(bucket: int) -> int:
    """What stands for all sizes that are counted under ``bucket``, the smallest of them."""
    if bucket < _EXACT_BELOW:
        return bucket
    return bucket + (1 << (bucket.bit_length() - _LEADING_BITS)) // 2
