"""The page of metrics: every source asked in turn, in slices of a few milliseconds."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from penstock.broker.metrics import table
from penstock.broker.metrics.exposition import Exposition, exposition_for, write_page
from penstock.broker.metrics.group_samples import GroupSamples
from penstock.broker.metrics.health import health_of
from penstock.broker.metrics.loop_lag import LoopLag
from penstock.broker.metrics.metric import Family
from penstock.broker.metrics.node_samples import build_family, node_families
from penstock.broker.metrics.pace import Pace
from penstock.broker.metrics.process_facts import look_at_process
from penstock.broker.metrics.quorum_samples import quorum_families
from penstock.broker.metrics.request_samples import request_families
from penstock.broker.metrics.topic_samples import TopicSamples

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class MetricsPage:
    """Of one broker. A broker that is starting tells only what its process is."""

    def __init__(
        self, broker: "Broker", loop_lag: LoopLag | None = None, *, started_at: float | None = None
    ) -> None:
        self._broker = broker
        self._loop_lag = loop_lag
        self._started_at = broker.clock.wall_ms() / 1000 if started_at is None else started_at
        self._topics = TopicSamples(broker)
        self._groups = GroupSamples(broker)
        self._last_seconds: float | None = None
        self._turn = asyncio.Lock()

    async def write_for(self, accept: str) -> tuple[str, list[bytes]]:
        """The page in the format that somebody accepts, after that format's name."""
        exposition = exposition_for(accept)
        return exposition.value, await self.write(exposition)

    async def write(self, exposition: Exposition = Exposition.TEXT) -> list[bytes]:
        """The page, in pieces; one at a time, since sources keep what they found for the next one."""
        clock = self._broker.clock
        async with self._turn:
            began = clock.monotonic()
            pace = Pace(clock)
            pieces = await write_page(self._families(pace), exposition, pace)
            self._last_seconds = clock.monotonic() - began
            return pieces

    async def _families(self, pace: Pace) -> AsyncIterator[Family]:
        async for family in self._process():
            yield family
        if not self._broker.is_ready:
            return
        async for family in self._topics.families(pace):
            yield family
        async for family in self._groups.families(pace):
            yield family
        for family in node_families(self._broker):
            yield family
        for family in request_families(self._broker.server):
            yield family
        for family in quorum_families(self._broker.quorum):
            yield family
        for source in self._broker.meters.sources:
            for family in source():
                yield family

    async def _process(self) -> AsyncIterator[Family]:
        yield build_family()
        is_ready = health_of(self._broker, is_stopping=False).is_ready
        yield Family(table.READY, [("", int(is_ready))])
        yield Family(table.START_TIME, [("", self._started_at)])
        for family in (await self._broker.workers.call(look_at_process)).families():
            yield family
        if self._loop_lag is not None:
            yield Family(table.LOOP_LAG, self._loop_lag.histogram.samples())
        if self._last_seconds is not None:
            yield Family(table.SCRAPE_DURATION, [("", self._last_seconds)])
