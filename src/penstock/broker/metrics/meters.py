"""The counters of a broker that nobody else owns, and the sources of metrics that others have brought."""

from typing import TYPE_CHECKING

from penstock.broker.clock import Clock
from penstock.broker.metrics.flush_meter import FlushMeter

if TYPE_CHECKING:
    from penstock.broker.metrics.metric import Source


class Meters:
    """Of one broker."""

    __slots__ = ("flushes", "sources")

    def __init__(self, clock: Clock) -> None:
        self.flushes = FlushMeter(clock)
        #: Asked for every page, after the broker's own: append a function that makes families. Their names
        #: must differ from those of the table, unless they are in it.
        self.sources: list[Source] = []
