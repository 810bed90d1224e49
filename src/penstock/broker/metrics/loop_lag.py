"""How late the loop is: a timer that is set again and again, and looked at when it comes."""

import asyncio

from penstock.broker.metrics.histogram import Histogram

INTERVAL_SECONDS = 0.25


class LoopLag:
    """Of one loop, by its own clock."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self.histogram = Histogram()

    def start(self) -> None:
        """Watch, until stopped."""
        self._timer = self._loop.call_later(INTERVAL_SECONDS, self._rang)

    def stop(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rang(self) -> None:
        assert self._timer is not None
        self.histogram.observe(max(0.0, self._loop.time() - self._timer.when()))
        self.start()
