"""Ranges of offsets, and how they are cut into the pieces that tasks read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from penstock.model.ids import TopicPartition

_NO_LIMITS: Mapping[TopicPartition, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRange:
    """A stretch of one partition; the end is not part of it."""

    partition: TopicPartition
    start: int
    end: int
    topic_id: str | None = None
    """In Kafka's text form, so that a topic of the same name is not taken for it; None if not known."""

    def __str__(self) -> str:
        return f"{self.partition} offsets {self.start} to {self.end - 1}"

    @property
    def size(self) -> int:
        """Offsets in it; records are fewer where the log was compacted or has markers of transactions."""
        return max(0, self.end - self.start)


def split_ranges(
    ranges: Iterable[OffsetRange],
    *,
    records_max: int,
    partitions_min: int | None = None,
    records_max_of: Mapping[TopicPartition, int] = _NO_LIMITS,
) -> list[OffsetRange]:
    """Pieces of at most ``records_max`` offsets each, and at least ``partitions_min`` where offsets allow it.

    ``records_max_of`` has a smaller limit for some partitions. Together the pieces are the ranges, without
    gap or overlap; empty ranges are dropped.
    """
    filled = [one for one in ranges if one.size]
    counts = _shares([one.size for one in filled], partitions_min or 0)
    pieces = [piece for one, count in zip(filled, counts, strict=True) for piece in _cut(one, count)]
    return [
        piece
        for large in pieces
        for piece in _cut(
            large, -(-large.size // min(records_max, records_max_of.get(large.partition, records_max)))
        )
    ]


def _shares(sizes: Sequence[int], wanted: int) -> list[int]:
    """Into how many pieces each range goes: one at least, more in proportion to its size."""
    counts = [1] * len(sizes)
    total = sum(sizes)
    spare = min(wanted, total) - len(sizes)
    if spare <= 0:
        return counts
    # A range is never cut into more pieces than it has offsets; what it cannot take goes to the next largest.
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        share = min(sizes[place], max(1, round(wanted * sizes[place] / total)))
        counts[place] = min(share, 1 + spare)
        spare -= counts[place] - 1
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        extra = min(spare, sizes[place] - counts[place])
        counts[place] += extra
        spare -= extra
    return counts


def _cut(whole: OffsetRange, count: int) -> Iterator[OffsetRange]:
    """``count`` pieces whose sizes differ by one at most."""
    for number in range(count):
        start = whole.start + whole.size * number // count
        end = whole.start + whole.size * (number + 1) // count
        yield replace(whole, start=start, end=end)
