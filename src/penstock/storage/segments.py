"""The segments of a log in the order of their offsets; the last one is active and takes the appends."""

from bisect import bisect_right
from collections.abc import Iterator

from penstock.model.errors import InvariantError
from penstock.storage.segment import Segment


class Segments:
    """Never empty; base offsets ascend, and each segment ends where the next begins."""

    __slots__ = ("_bases", "_segments", "active")

    def __init__(self, segments: list[Segment]) -> None:
        if not segments:
            raise InvariantError("a log has at least one segment")
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]
        self.active = segments[-1]

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def first(self) -> Segment:
        """The oldest."""
        return self._segments[0]

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self._segments)

    def add(self, segment: Segment) -> None:
        """Make ``segment`` the active one."""
        if segment.base_offset != self.active.next_offset:
            raise InvariantError(f"{segment} does not begin where the log ends, at {self.active.next_offset}")
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment that holds ``offset``, and all behind it."""
        return self._segments[max(0, bisect_right(self._bases, offset) - 1) :]

    def drop_first(self, count: int) -> list[Segment]:
        """Take the oldest out; the active one must stay."""
        if count >= len(self._segments):
            raise InvariantError("the active segment cannot be dropped")
        return self._drop(0, count)

    def drop_last(self, count: int) -> list[Segment]:
        """Take the newest out; the one before becomes active."""
        if count >= len(self._segments):
            raise InvariantError("the last remaining segment cannot be dropped")
        return self._drop(len(self._segments) - count, len(self._segments))

    def replace(self, old: list[Segment], new: Segment) -> None:
        """Put one segment in the place of neighbours that it was made from, none of them the active one."""
        start = self._segments.index(old[0])
        end = start + len(old)
        is_run = self._segments[start:end] == old and end < len(self._segments)
        if not is_run or (new.base_offset, new.next_offset) != (old[0].base_offset, old[-1].next_offset):
            raise InvariantError(f"{new} cannot take the place of {old}")
        self._segments[start:end] = [new]
        self._bases[start:end] = [new.base_offset]

    def begin_anew(self, first: Segment) -> list[Segment]:
        """Take all out and go on with ``first``, wherever it begins."""
        dropped = self._segments[:]
        self._segments[:] = [first]
        self._bases[:] = [first.base_offset]
        self.active = first
        return dropped

    def _drop(self, start: int, end: int) -> list[Segment]:
        dropped = self._segments[start:end]
        del self._segments[start:end]
        del self._bases[start:end]
        self.active = self._segments[-1]
        return dropped
