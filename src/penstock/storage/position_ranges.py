"""Sets of file positions as ranges: which bytes were checked, which are known to be bad.

A value is a tuple that is replaced, never changed: a worker thread may add a range while the loop asks. Two
threads adding at once may lose one addition, which only means that something is checked a second time.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple


class PositionRange(NamedTuple):
    """Bytes from ``start`` up to, not including, ``end``."""

    start: int
    end: int


class PositionRanges:
    """Ranges in ascending order, neither touching nor overlapping."""

    __slots__ = ("_ranges",)

    def __init__(self) -> None:
        self._ranges: tuple[PositionRange, ...] = ()

    def __iter__(self) -> Iterator[PositionRange]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def add(self, start: int, end: int) -> None:
        """Take a range in."""
        if start >= end:
            return
        kept = []
        for known in self._ranges:
            if known.end < start or known.start > end:
                kept.append(known)
            else:
                start, end = min(start, known.start), max(end, known.end)
        kept.append(PositionRange(start, end))
        self._ranges = tuple(sorted(kept))

    def cut(self, position: int) -> None:
        """Forget everything from ``position`` on."""
        self._ranges = tuple(
            PositionRange(start, min(end, position)) for start, end in self._ranges if start < position
        )

    def covers(self, start: int, end: int) -> bool:
        """Whether every byte of the range is in."""
        number = bisect_right(self._ranges, (start, _LAST)) - 1
        return start >= end or (number >= 0 and end <= self._ranges[number].end)

    def first_from(self, position: int) -> PositionRange | None:
        """The range that contains ``position`` or, if none does, the next one behind it."""
        return next((known for known in self._ranges if known.end > position), None)


_LAST = 1 << 62
