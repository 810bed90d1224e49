"""Entries between whoever logs and whoever writes: nobody who logs ever waits.

When it is full, what comes is dropped and counted by level, and the count is told later. Any thread may put
and take; the lock is held for as long as it takes to move a pointer.
"""

import threading
from collections import Counter, deque
from collections.abc import Sequence

from penstock.broker.logging.entry import LogEntry

COUNT_MAX = 10_000
BYTES_MAX = 8 * 1024 * 1024


class BoundedQueue:
    """First in, first out, up to a number of entries and of bytes."""

    def __init__(self, *, count_max: int = COUNT_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._entries: deque[LogEntry] = deque()
        self._bytes = 0
        self._dropped: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._is_woken = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_crowded(self) -> bool:
        """Whether it is more than half full."""
        return 2 * len(self._entries) > self._count_max or 2 * self._bytes > self._bytes_max

    def put(self, entry: LogEntry) -> None:
        """Add an entry at the end, or count it as dropped."""
        with self._changed:
            if self._has_room(entry):
                self._entries.append(entry)
                self._bytes += len(entry.body)
            else:
                self._dropped[entry.level] += 1
            self._changed.notify()

    def put_back(self, entries: Sequence[LogEntry]) -> None:
        """Add entries that could not be written at the beginning again; the oldest are dropped first."""
        with self._changed:
            for entry in reversed(entries):
                if self._has_room(entry):
                    self._entries.appendleft(entry)
                    self._bytes += len(entry.body)
                else:
                    self._dropped[entry.level] += 1

    def take(self, *, count_max: int, bytes_max: int) -> list[LogEntry]:
        """The oldest entries, out of the queue; at least one if there is any."""
        taken: list[LogEntry] = []
        size = 0
        with self._changed:
            while self._entries and len(taken) < count_max:
                size += len(self._entries[0].body)
                if taken and size > bytes_max:
                    break
                taken.append(self._entries.popleft())
            self._bytes -= sum(len(entry.body) for entry in taken)
        return taken

    def count_dropped(self, entries: Sequence[LogEntry]) -> None:
        """These were taken, and are lost."""
        with self._changed:
            self._dropped.update(entry.level for entry in entries)

    def take_dropped(self) -> dict[str, int]:
        """How many were dropped since this was asked last, by level."""
        with self._changed:
            dropped, self._dropped = self._dropped, Counter()
        return dict(dropped)

    def wait(self, seconds_max: float) -> None:
        """Return when there is something to take, somebody calls ``wake``, or the time is up."""
        with self._changed:
            if not self._entries and not self._is_woken:
                self._changed.wait(seconds_max)
            self._is_woken = False

    def wake(self) -> None:
        """Let whoever waits look around."""
        with self._changed:
            self._is_woken = True
            self._changed.notify()

    def _has_room(self, entry: LogEntry) -> bool:
        return len(self._entries) < self._count_max and self._bytes + len(entry.body) <= self._bytes_max
