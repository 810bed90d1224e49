"""Deadlines that are almost never reached, kept cheaply.

Nearly every produce request is answered long before its timeout. A timer of the event loop for each would
cost more than the rest of the waiting; so deadlines are gathered by the second and looked at once a second.
Who is answered leaves at once: a request must not live on until its deadline, with all its records.

A deadline is kept to within a second, late rather than early.
"""

import asyncio
from typing import NewType, Protocol

TICK_SECONDS = 1.0

Tick = NewType("Tick", int)
"""The moment at which somebody is called, by which it can leave again."""


class Expiring(Protocol):
    """Whoever waits no longer than some moment."""

    def expire(self) -> None:
        """The moment has passed."""


class Deadlines:
    """Calls back some time after a moment has passed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._by_tick: dict[Tick, dict[Expiring, None]] = {}
        self._is_ticking = False

    def __len__(self) -> int:
        return sum(map(len, self._by_tick.values()))

    @property
    def tick_count(self) -> int:
        """How many moments somebody waits for."""
        return len(self._by_tick)

    def add(self, delay_ms: int, waiting: Expiring) -> Tick:
        """Have it expire at the first tick after ``delay_ms``, unless it leaves before."""
        tick = Tick(int((self._loop.time() + delay_ms / 1000) / TICK_SECONDS) + 1)
        together = self._by_tick.get(tick)
        if together is None:
            together = self._by_tick[tick] = {}
        together[waiting] = None
        if not self._is_ticking:
            self._is_ticking = True
            self._loop.call_later(TICK_SECONDS, self._tick)
        return tick

    def leave(self, tick: Tick, waiting: Expiring) -> None:
        """It waits no longer."""
        together = self._by_tick.get(tick)
        if together is not None:
            together.pop(waiting, None)
            if not together:
                # Clients choose how far off their deadlines are: nothing may be kept until then.
                del self._by_tick[tick]

    def _tick(self) -> None:
        now = int(self._loop.time() / TICK_SECONDS)
        for tick in sorted(each for each in self._by_tick if each <= now):
            # Whoever expires may lead others to leave, and the last of a moment takes it along.
            for waiting in self._by_tick.pop(tick, ()):
                waiting.expire()
        self._is_ticking = bool(self._by_tick)
        if self._is_ticking:
            self._loop.call_later(TICK_SECONDS, self._tick)
