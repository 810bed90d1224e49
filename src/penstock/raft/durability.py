"""How much of what was ordered is on disk.

Orders are numbered because offsets do not tell them apart: an entry that was appended, cut off and appended
again is on disk when the second order is done, and not when a late report of the first one comes in.
"""

from collections import deque

from penstock.model.errors import InvariantError


class Durability:
    """The orders of one process, and the end of what is durable of its log."""

    __slots__ = ("_pending", "end_offset", "issued", "settled")

    def __init__(self, end_offset: int) -> None:
        #: Everything below is on disk; ≤ the log's end.
        self.end_offset = end_offset
        #: Number of the newest order; 0 for none.
        self.issued = 0
        #: Number of the newest order that is on disk, with all before it.
        self.settled = 0
        #: Of orders that are not: number, and where the log ends once it is.
        self._pending: deque[tuple[int, int]] = deque()

    def order(self, log_end_offset: int) -> int:
        """Something is to be written, after which the log ends there; the number to report."""
        self.issued += 1
        self._pending.append((self.issued, log_end_offset))
        return self.issued

    def settle(self, number: int) -> None:
        """All orders up to ``number`` are on disk."""
        if not self.settled <= number <= self.issued:
            raise InvariantError(f"order {number} is reported, {self.settled} was and {self.issued} is last")
        self.settled = number
        while self._pending and self._pending[0][0] <= number:
            self.end_offset = max(self.end_offset, self._pending.popleft()[1])

    def truncate(self, offset: int) -> None:
        """What lies behind is cut off: reports about it mean nothing any more."""
        self.end_offset = min(self.end_offset, offset)
        self._pending = deque((number, min(end, offset)) for number, end in self._pending)

    def restart_at(self, offset: int) -> None:
        """A snapshot is on disk that ends there, and takes the place of the log."""
        self.end_offset = offset
        self._pending = deque((number, offset) for number, _ in self._pending)
