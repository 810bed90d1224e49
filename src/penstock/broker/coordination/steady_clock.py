"""The time that machines are told: what the wall said at the start, and how long that is ago.

It only moves forward. A wall clock that jumps must neither end every session of every group at once nor keep
a dead member alive for an hour.
"""

from penstock.broker.clock import Clock
from penstock.model.ids import Millis


class SteadyClock:
    """Milliseconds since 1970 that never jump."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began_ms = clock.wall_ms() - int(clock.monotonic() * 1000)

    def now(self) -> Millis:
        """The time."""
        return Millis(self._began_ms + int(self._clock.monotonic() * 1000))
