"""The newest of many entries, in bounded memory."""

import heapq
import itertools

from penstock.client.logs.entry import FoundEntry


class Newest:
    """Keeps as many as it may; ties go by the order in which they came."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers = itertools.count()
        self._heap: list[tuple[int, int, FoundEntry]] = []
        #: Whether older ones had to go.
        self.is_cut = False

    def add(self, entry: FoundEntry) -> None:
        """One more."""
        item = (entry.time_ms, next(self._numbers), entry)
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, item)
        else:
            self.is_cut = True
            heapq.heappushpop(self._heap, item)

    def entries(self) -> list[FoundEntry]:
        """Those kept, the newest last."""
        return [entry for _, _, entry in sorted(self._heap, key=lambda item: item[:2])]
