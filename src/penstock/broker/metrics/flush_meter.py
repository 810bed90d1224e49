"""How long rounds of group commit take, and how many logs share one."""

from penstock.broker.clock import Clock
from penstock.broker.metrics.histogram import Histogram


class FlushMeter:
    """Told of every round by the flusher."""

    __slots__ = ("_began", "_monotonic", "latency", "logs_flushed")

    def __init__(self, clock: Clock) -> None:
        self._monotonic = clock.monotonic
        self._began = 0.0
        self.latency = Histogram()
        #: How many logs took part in a round, over all rounds.
        self.logs_flushed = 0

    def round_began(self) -> None:
        """Jobs are about to run; one round at a time."""
        self._began = self._monotonic()

    def round_ended(self, log_count: int) -> None:
        """All of them have ended."""
        self.latency.observe(self._monotonic() - self._began)
        self.logs_flushed += log_count
