"""Which term wrote which part of a log: each term with the first offset it wrote, both ascending.

That is all the machine must know about old entries: two logs that have the same term at an offset are the
same up to it (the Log Matching Property, section 5.3), so terms alone tell where logs part.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from penstock.model.errors import InvariantError


class Terms:
    """The terms of one log, from where it starts to where it ends."""

    __slots__ = ("_offsets", "_terms", "base_term", "end_offset", "start_offset")

    def __init__(
        self,
        *,
        start_offset: int = 0,
        base_term: int = 0,
        end_offset: int = 0,
        starts: Iterable[tuple[int, int]] = (),
    ) -> None:
        #: Of the first entry that is still there.
        self.start_offset = start_offset
        #: Of the entry before it, which a snapshot covers; 0 before the first of all.
        self.base_term = base_term
        self.end_offset = start_offset
        self._terms: list[int] = []
        self._offsets: list[int] = []
        for term, offset in starts:
            self.append(term, offset, offset + 1)
        self.end_offset = end_offset

    @property
    def last_term(self) -> int:
        """Of the last entry, or of the snapshot when there is none behind it."""
        return self._terms[-1] if self._terms else self.base_term

    @property
    def starts(self) -> tuple[tuple[int, int], ...]:
        """Each term and its first offset."""
        return tuple(zip(self._terms, self._offsets, strict=True))

    def append(self, term: int, offset: int, end_offset: int) -> None:
        """An entry follows."""
        last = self.last_term
        if term < last or offset < self.end_offset:
            raise InvariantError(
                f"an entry of term {term} at {offset} cannot follow one of term {last} that ends at "
                f"{self.end_offset}"
            )
        if term != last or not self._terms:
            self._terms.append(term)
            self._offsets.append(offset)
        self.end_offset = end_offset

    def before(self, offset: int) -> int | None:
        """The term of the entry that ends at ``offset`` or contains what stands before; None if unknown."""
        if not self.start_offset <= offset <= self.end_offset:
            return None
        number = bisect_left(self._offsets, offset)
        return self._terms[number - 1] if number else self.base_term

    def last_place_not_above(self, term: int, offset: int) -> int:
        """The largest end, not beyond ``offset``, of an entry whose term is not above ``term``.

        Where a log with that term before that offset may still agree with this one: fast back-off, section
        5.3. Not below the start of this log.
        """
        number = bisect_right(self._terms, term)
        end = self._offsets[number] if number < len(self._offsets) else self.end_offset
        return max(self.start_offset, min(offset, end))

    def truncate(self, offset: int) -> None:
        """Nothing from ``offset`` on is there any more."""
        number = bisect_left(self._offsets, offset)
        del self._terms[number:], self._offsets[number:]
        self.end_offset = offset

    def drop_before(self, offset: int) -> None:
        """The log starts there now."""
        base_term = self.before(offset)
        if base_term is None:
            raise InvariantError(
                f"a log from {self.start_offset} to {self.end_offset} cannot start at {offset}"
            )
        number = bisect_right(self._offsets, offset) - 1
        if number >= 0 and offset < self.end_offset:
            del self._terms[:number], self._offsets[:number]
            self._offsets[0] = max(self._offsets[0], offset)
        elif offset >= self.end_offset:
            self._terms.clear()
            self._offsets.clear()
        self.start_offset = offset
        self.base_term = base_term
