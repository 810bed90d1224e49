"""Timers as data: what is due when. Nobody sleeps here; the shell asks for the earliest and comes back then.

Deadlines are mostly moved, seldom met: every heartbeat puts one off. Moving one later therefore only notes
the new time; its place in the heap is corrected when it comes to the top. What is due at the same time comes
in the order in which it was set, so that a replayed run is the same run.
"""

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from penstock.model.errors import InvariantError
from penstock.model.ids import Millis

Key = TypeVar("Key", bound=Hashable)

STALE_ENTRIES_MAX = 64
"""How many entries of the heap may mean nothing any more, beside one for each that does."""


class Deadlines(Generic[Key]):
    """One deadline per key."""

    __slots__ = ("_due", "_heap", "_sequence")

    def __init__(self) -> None:
        #: The truth: when a key is due, and the how-manieth setting that was.
        self._due: dict[Key, tuple[Millis, int]] = {}
        #: Where to look first. Every key of ``_due`` has an entry here that is not later than its time.
        self._heap: list[tuple[Millis, int, Key]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: Key) -> bool:
        return key in self._due

    def set(self, key: Key, due: Millis) -> None:
        """Let ``key`` be due then, and no longer when it was."""
        before = self._due.get(key)
        self._sequence += 1
        self._due[key] = (due, self._sequence)
        if before is None or due < before[0]:
            heappush(self._heap, (due, self._sequence, key))
            self._drop_stale()

    def cancel(self, key: Key) -> None:
        """Forget the deadline of ``key``, if it has one."""
        self._due.pop(key, None)
        self._drop_stale()

    def next(self) -> Millis | None:
        """When something is due next."""
        self._settle()
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: Millis) -> Key | None:
        """Take the earliest key that is due, or none."""
        self._settle()
        if not self._heap or self._heap[0][0] > now:
            return None
        key = heappop(self._heap)[2]
        del self._due[key]
        return key

    def validate(self) -> None:
        """Raise ``InvariantError`` unless every deadline will be found in time."""
        earliest: dict[Key, Millis] = {}
        for due, _, key in self._heap:
            earliest[key] = min(due, earliest.get(key, due))
        for key, (due, _) in self._due.items():
            if key not in earliest or earliest[key] > due:
                raise InvariantError(f"the deadline of {key} at {due} would be missed")

    def _settle(self) -> None:
        """Correct the top of the heap until it is a deadline that stands."""
        while self._heap:
            due, sequence, key = self._heap[0]
            current = self._due.get(key)
            if current == (due, sequence):
                return
            heappop(self._heap)
            if current is not None:
                heappush(self._heap, (*current, key))

    def _drop_stale(self) -> None:
        """Keep what was cancelled or moved from outgrowing what stands."""
        if len(self._heap) > 2 * len(self._due) + STALE_ENTRIES_MAX:
            self._heap = [(due, sequence, key) for key, (due, sequence) in self._due.items()]
            heapify(self._heap)
