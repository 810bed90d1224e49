"""What batches are compressed with, and how much that saves."""

from typing import Any, NamedTuple

from penstock.records.compression import Codec


class CodecTotals(NamedTuple):
    """All batches of one codec."""

    batch_count: int = 0
    stored_bytes: int = 0
    """Of the records, as they are stored; headers of batches do not count."""
    payload_bytes: int = 0
    """Of the same records before compression."""

    def plus(self, other: "CodecTotals") -> "CodecTotals":
        """Both together."""
        return CodecTotals(*map(sum, zip(self, other, strict=True)))

    @property
    def ratio(self) -> float:
        """How many bytes become one; 1 where nothing is."""
        return self.payload_bytes / self.stored_bytes if self.stored_bytes else 1.0


class CodecUsage:
    """Totals by codec."""

    __slots__ = ("_totals",)

    def __init__(self) -> None:
        self._totals: dict[int, CodecTotals] = {}

    def add(self, codec: int, totals: CodecTotals) -> None:
        """Count batches of one codec."""
        self._totals[codec] = self._totals.get(codec, CodecTotals()).plus(totals)

    def merge(self, other: "CodecUsage") -> None:
        """Count all that the other has counted."""
        for codec, totals in other._totals.items():
            self.add(codec, totals)

    @property
    def total(self) -> CodecTotals:
        """All codecs together."""
        sums = CodecTotals()
        for totals in self._totals.values():
            sums = sums.plus(totals)
        return sums

    def by_name(self) -> dict[str, CodecTotals]:
        """Totals under the names that ``compression.type`` uses."""
        return {Codec(codec).name.lower(): totals for codec, totals in sorted(self._totals.items())}

    def as_json(self) -> dict[str, Any]:
        """The ratio of all, and the totals of each codec."""
        return {
            "ratio": round(self.total.ratio, 3),
            "codecs": {
                name: {
                    "batches": totals.batch_count,
                    "stored_bytes": totals.stored_bytes,
                    "uncompressed_bytes": totals.payload_bytes,
                    "ratio": round(totals.ratio, 3),
                }
                for name, totals in self.by_name().items()
            },
        }
