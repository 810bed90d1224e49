"""The clock of a broker under test: the machine's own, moved forward by as much as a test has asked for.

It belongs to the machine, not to the process: a broker that is killed and comes back finds the same time.

Tests like to stop Python's clock (freezegun and others replace ``time.time`` and ``time.monotonic``), and a
broker in the same process must not stop with it. So the system is asked by a call that nobody replaces.
"""

import time

from penstock.model.ids import Millis


def steady_seconds() -> float:
    """Seconds that only move forward, and that no test has stopped."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


class MovableClock:
    """The clock seam with an offset, which both of its times share. It only moves forward."""

    def __init__(self) -> None:
        #: By how much this broker's time is ahead of everybody else's.
        self.offset_seconds = 0.0

    def wall_ms(self) -> Millis:
        """Milliseconds since 1970."""
        real_ms = time.clock_gettime_ns(time.CLOCK_REALTIME) // 1_000_000
        return Millis(real_ms + int(self.offset_seconds * 1000))

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return steady_seconds() + self.offset_seconds
