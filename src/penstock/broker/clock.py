"""The clock seam: everything that asks the time asks here, so that a simulator can answer instead."""

import time
from typing import Protocol

from penstock.model.ids import Millis


class Clock(Protocol):
    """Two times that must not be mixed: what the wall says, and how long something took."""

    def wall_ms(self) -> Millis:
        """Milliseconds since 1970, for timestamps and retention; may jump."""

    def monotonic(self) -> float:
        """Seconds that only move forward, for deadlines."""


class SystemClock:
    """The machine's own clocks."""

    def wall_ms(self) -> Millis:
        """Milliseconds since 1970."""
        return Millis(time.time_ns() // 1_000_000)

    # Seconds since some fixed moment. Every request asks several times, so nothing stands before the system.
    monotonic = staticmethod(time.monotonic)
