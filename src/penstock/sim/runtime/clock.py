"""The clocks of one simulated machine: how long it runs, and what its wall says."""

from penstock.model.ids import Millis
from penstock.sim.runtime.loop import SimulatedLoop

WALL_AT_START_MS = 1_700_000_000_000


class SimulatedClock:
    """Reads the process's loop; the wall may be wrong, and be put wrong while it runs."""

    def __init__(self, loop: SimulatedLoop, *, wall_offset_ms: int = 0) -> None:
        self._loop = loop
        #: How far the wall is ahead of the truth.
        self.wall_offset_ms = wall_offset_ms

    def wall_ms(self) -> Millis:
        """Milliseconds since 1970, as this machine believes."""
        return Millis(WALL_AT_START_MS + self.wall_offset_ms + int(self._loop.time() * 1000))

    def monotonic(self) -> float:
        """Seconds that only move forward."""
        return self._loop.time()
