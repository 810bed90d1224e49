"""Recently appended batches, kept in memory for readers near the end of a log.

One cache serves all logs of a broker and has one size. What was appended first, by whichever log, leaves
first; seen from one log that is its own order, so a log's tail is always a gapless run up to its end.
Batches are the very buffers that the network filled: nothing is copied on the way in, and nothing on the
way out.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from operator import itemgetter

from penstock.storage.filesystem import BytesLike

TailEntry = tuple[int, int, BytesLike]
"""Base offset, size in bytes, the batch."""

BATCHES_PER_READ_MAX = 256
"""A reader of very small batches is served faster from the file, where they lie side by side."""

_FORGOTTEN_ENTRIES_MAX = 512

_base_offset: Callable[[TailEntry], int] = itemgetter(0)


class TailCache:
    """The shared memory: a queue of who appended what, and a limit."""

    __slots__ = ("_queue", "capacity_bytes", "lent_bytes", "size_bytes")

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        #: At most ``capacity_bytes``.
        self.size_bytes = 0
        #: In answers that have not left; they keep what leaves the cache. Whoever sends them keeps count.
        self.lent_bytes = 0
        # One entry per cached batch: its tail, the tail's generation, its size.
        self._queue: deque[tuple[LogTail, int, int]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def is_lent_out(self) -> bool:
        """Whether slow readers keep as much again as the cache may hold: others read from files then."""
        return self.lent_bytes > self.capacity_bytes

    def tail(self) -> "LogTail":
        """The part of one log, empty at first."""
        return LogTail(self)

    def admit(self, tail: "LogTail", generation: int, size: int) -> None:
        """Account for a batch that ``tail`` just took in, and drop the oldest of all until it fits."""
        queue = self._queue
        queue.append((tail, generation, size))
        self.size_bytes += size
        while self.size_bytes > self.capacity_bytes:
            oldest, oldest_generation, oldest_size = queue.popleft()
            self.size_bytes -= oldest_size
            oldest.forget_first(oldest_generation)


class LogTail:
    """The cached end of one log."""

    __slots__ = ("_cache", "_entries", "_first", "_generation")

    def __init__(self, cache: TailCache) -> None:
        self._cache = cache
        self._entries: list[TailEntry] = []
        # Entries before this one are forgotten; they leave the list many at a time.
        self._first = 0
        # Clearing starts a new generation, so that what still waits in the queue evicts nothing new.
        self._generation = 0

    def __len__(self) -> int:
        return len(self._entries) - self._first

    def append(self, base_offset: int, size: int, batch: BytesLike) -> None:
        """Take in the newest batch."""
        self._entries.append((base_offset, size, batch))
        self._cache.admit(self, self._generation, size)

    def forget_first(self, generation: int) -> None:
        """Let the oldest batch go; for the cache only."""
        if generation != self._generation:
            return
        self._entries[self._first] = _FORGOTTEN
        self._first += 1
        if self._first > _FORGOTTEN_ENTRIES_MAX and self._first * 2 > len(self._entries):
            del self._entries[: self._first]
            self._first = 0

    def clear(self) -> None:
        """Let everything go: the log was cut, and what is here may no longer be in it."""
        self._entries = []
        self._first = 0
        self._generation += 1

    def read(self, offset: int, end_offset: int, max_bytes: int) -> tuple[list[BytesLike], int, bool] | None:
        """Whole batches from the one that contains ``offset``, all below ``end_offset``, and their size.

        And whether there are more below ``end_offset``. At least one batch even if that is larger than
        ``max_bytes``. None when the tail begins behind ``offset``, or when the file serves it better.
        """
        if self._cache.is_lent_out:
            return None
        entries, first = self._entries, self._first
        number = bisect_right(entries, offset, first, key=_base_offset) - 1
        if number < first:
            return None
        batches: list[BytesLike] = []
        total = 0
        for base_offset, size, batch in entries[number : number + BATCHES_PER_READ_MAX]:
            if base_offset >= end_offset:
                return batches, total, False
            if total + size > max_bytes and batches:
                return batches, total, True
            batches.append(batch)
            total += size
        is_cut = number + BATCHES_PER_READ_MAX < len(entries)
        return None if is_cut and total < max_bytes else (batches, total, is_cut)


_FORGOTTEN: TailEntry = (-1, 0, b"")
