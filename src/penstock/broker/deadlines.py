"""Deadlines that are almost never reached, kept cheaply.

Nearly every produce request is answered long before its timeout. A timer of the event loop for each would
cost more than the rest of the waiting; so deadlines are gathered by the second and looked at once a second.
What is called may have been answered already, and must know. A deadline is kept to within a second, late
rather than early.
"""

import asyncio
from collections.abc import Callable

TICK_SECONDS = 1.0


class Deadlines:
    """Calls back some time after a moment has passed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._by_tick: dict[int, list[Callable[[], None]]] = {}
        self._is_ticking = False

    def add(self, delay_ms: int, callback: Callable[[], None]) -> None:
        """Call back at the first tick after ``delay_ms``."""
        tick = int((self._loop.time() + delay_ms / 1000) / TICK_SECONDS) + 1
        waiting = self._by_tick.get(tick)
        if waiting is not None:
            waiting.append(callback)
            return
        self._by_tick[tick] = [callback]
        if not self._is_ticking:
            self._is_ticking = True
            self._loop.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        now = int(self._loop.time() / TICK_SECONDS)
        for tick in sorted(each for each in self._by_tick if each <= now):
            for callback in self._by_tick.pop(tick):
                callback()
        self._is_ticking = bool(self._by_tick)
        if self._is_ticking:
            self._loop.call_later(TICK_SECONDS, self._tick)
