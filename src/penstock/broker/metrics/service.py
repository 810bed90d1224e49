"""The HTTP port of a broker process: which paths there are, who may ask, and when it comes and goes.

It comes before the broker starts, so that somebody who waits for a broker that waits for its cluster can see
that it lives; and it goes last. It belongs to the process: a broker in a test or in the simulator has none.
"""

import asyncio
import json
import logging
import re
from typing import TYPE_CHECKING

from penstock.broker.metrics.address_file import remove_address, write_address
from penstock.broker.metrics.health import health_of
from penstock.broker.metrics.http.answer import JSON, HttpAnswer, text_answer
from penstock.broker.metrics.http.connection import HttpSurroundings
from penstock.broker.metrics.http.listener import HttpListener
from penstock.broker.metrics.http.request import HttpRequest
from penstock.broker.metrics.loop_lag import LoopLag
from penstock.broker.tasks import Tasks
from penstock.config.broker_config import BrokerConfig
from penstock.config.listeners import parse_listener
from penstock.config.metrics_keys import AUTOMATIC, OFF
from penstock.model.version import __version__

if TYPE_CHECKING:
    from penstock.broker.broker import Broker
    from penstock.broker.metrics.page import MetricsPage

logger = logging.getLogger(__name__)

AUTOMATIC_HOST = "127.0.0.1"
AUTOMATIC_PORT_DISTANCE = 10_000
"""Above the broker's own port."""

_LOOPBACK = re.compile(r"127(?:\.\d{1,3}){3}")


class MetricsService:
    """Answers for one broker."""

    def __init__(self, broker: "Broker", *, loop: asyncio.AbstractEventLoop, data_directory: str) -> None:
        self._broker = broker
        self._data_directory = data_directory
        self._loop_lag = LoopLag(loop)
        self._started_at = broker.clock.wall_ms() / 1000
        #: There once somebody has asked for it.
        self._page: MetricsPage | None = None
        around = HttpSurroundings(respond=self._respond, tasks=Tasks(loop), connections={})
        self._listener = HttpListener(around)
        self._is_local = False
        #: Whether the broker has been told to stop.
        self.is_stopping = False

    @property
    def address(self) -> str:
        """``HOST:PORT``; empty when metrics are off."""
        return self._listener.address

    async def start(self, config: BrokerConfig) -> None:
        """Listen as the settings say; ``OperatingError`` when the address they name cannot be had."""
        wanted = config.string("metrics.listener")
        if wanted == OFF:
            return
        if wanted == AUTOMATIC:
            broker_port = config.listeners[0].port
            port = broker_port + AUTOMATIC_PORT_DISTANCE if broker_port else 0
            await self._listener.start_near(AUTOMATIC_HOST, port)
        else:
            named = parse_listener(wanted)
            await self._listener.start(named.host, named.port)
        self._is_local = _is_loopback(self.address.rpartition(":")[0].strip("[]"))
        self._loop_lag.start()

    def announce(self) -> None:
        """The broker is ready, and the data directory is ours: say where metrics are."""
        if self.address:
            logger.info("metrics are served", extra={"address": self.address})
            write_address(self._data_directory, self.address)

    async def stop(self) -> None:
        """Answer no more."""
        self._loop_lag.stop()
        if self.address:
            remove_address(self._data_directory)
            await self._listener.stop()

    async def _respond(self, request: HttpRequest) -> HttpAnswer:
        if request.method != "GET":
            return text_answer(405, "Only GET is served.")
        if self._is_local and not _is_loopback(request.host):
            # A page of the internet may have its own name point here, and would read along.
            return text_answer(421, "Ask for this machine by the name localhost or its loopback address.")
        match request.path:
            case "/metrics":
                return await self._metrics(request)
            case "/health/live":
                return _json_answer(200, {"live": True})
            case "/health" | "/health/ready":
                return self._health()
            case _:
                return text_answer(404, "There are /metrics, /health, /health/live and /health/ready.")

    async def _metrics(self, request: HttpRequest) -> HttpAnswer:
        """Starting brokers have no time for the modules of the page, and loops none for loading modules."""
        if self._page is None:
            make_page = await self._broker.workers.call(_load_page)
            self._page = make_page(self._broker, self._loop_lag, started_at=self._started_at)
        content_type, pieces = await self._page.write_for(request.accept)
        return HttpAnswer(content_type=content_type, body=pieces)

    def _health(self) -> HttpAnswer:
        health = health_of(self._broker, is_stopping=self.is_stopping)
        facts = {
            "live": True,
            "ready": health.is_ready,
            "reasons": health.reasons,
            "version": __version__,
        }
        if self._broker.is_ready:
            facts |= {"node": self._broker.node_id, "cluster": self._broker.cluster_id}
        return _json_answer(200 if health.is_ready else 503, facts)


def _load_page() -> "type[MetricsPage]":
    from penstock.broker.metrics.page import MetricsPage

    return MetricsPage


def _json_answer(status: int, facts: dict[str, object]) -> HttpAnswer:
    return HttpAnswer(status=status, content_type=JSON, body=(json.dumps(facts).encode() + b"\n",))


def _is_loopback(host: str) -> bool:
    """Whether a host means this machine and no other; no browser asks without naming one."""
    return host in ("", "localhost", "::1") or _LOOPBACK.fullmatch(host) is not None
