"""The listening socket, and the watch over the connections that came through it."""

import asyncio
from collections.abc import Callable

from penstock.broker.clock import Clock
from penstock.broker.connection import Connection, Requests, Surroundings
from penstock.broker.connection_limits import ConnectionLimits
from penstock.broker.frames import SCRATCH_BYTES
from penstock.broker.metrics.traffic import Traffic
from penstock.broker.request_memory import RequestMemory
from penstock.config.broker_config import BrokerConfig
from penstock.model.errors import OperatingError
from penstock.storage.tail_cache import TailCache

LISTEN_BACKLOG = 1024
SWEEP_SECONDS = 1.0
DRAIN_POLL_SECONDS = 0.02
HANG_UP_SECONDS = 1.0
"""How long clients have at the end to read their last replies and to close."""


class Server:
    """Accepts connections and closes those that keep the broker waiting."""

    def __init__(
        self, config: BrokerConfig, requests: Requests, clock: Clock, tail_cache: TailCache | None = None
    ) -> None:
        self._clock = clock
        self._connections: dict[Connection, None] = {}
        self._listening: asyncio.Server | None = None
        #: What is asked, and what is answered.
        self.traffic = Traffic()
        self.limits = ConnectionLimits(**_bounds(config))
        self.memory = RequestMemory(
            bytes_max=config.integer("queued.max.request.bytes"),
            queued_max=config.integer("queued.max.requests"),
        )
        self._surroundings = Surroundings(
            requests=requests,
            limits=self.limits,
            memory=self.memory,
            scratch=bytearray(SCRATCH_BYTES),
            frame_bytes_max=config.integer("socket.request.max.bytes"),
            idle_seconds_max=config.integer("connections.max.idle.ms") / 1000,
            clock=clock,
            connections=self._connections,
            traffic=self.traffic,
            tail_cache=TailCache(0) if tail_cache is None else tail_cache,
        )

    def configure(self, config: BrokerConfig) -> None:
        """Settings have changed while it runs."""
        self.limits.change(**_bounds(config))

    @property
    def connection_count(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    @property
    def connections(self) -> list[Connection]:
        """Those of all clients, other brokers included."""
        return list(self._connections)

    async def bind(self, host: str, port: int) -> int:
        """Take the address; returns the port really taken, which matters when ``port`` is 0."""
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(
                lambda: Connection(self._surroundings, loop),
                host or None,
                port,
                backlog=LISTEN_BACKLOG,
                start_serving=False,
            )
        except OSError as error:
            raise OperatingError(
                f"Cannot listen on {host}:{port}: {error.strerror}. "
                "Is another broker running there? Choose another address with --listen HOST:PORT."
            ) from error
        return int(self._listening.sockets[0].getsockname()[1])

    async def accept(self) -> None:
        """Let clients in."""
        assert self._listening is not None
        await self._listening.start_serving()

    async def watch(self) -> None:
        """Sweep overdue connections, for ever."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = self._clock.monotonic()
            for connection in list(self._connections):
                connection.close_if_overdue(now)

    async def stop(self, grace_seconds: float) -> None:
        """Accept no more, let replies under way leave and be read, then close everything."""
        if self._listening is not None:
            self._listening.close()
        for connection in list(self._connections):
            connection.finish()
        await self._wait_while(self._owes_answers, grace_seconds)
        for connection in list(self._connections):
            connection.hang_up()
        await self._wait_while(lambda: bool(self._connections), HANG_UP_SECONDS)
        for connection in list(self._connections):
            connection.close("the broker is stopping")
        if self._listening is not None:
            await self._listening.wait_closed()

    async def _wait_while(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = self._clock.monotonic() + seconds
        while condition() and self._clock.monotonic() < deadline:  # noqa: ASYNC110 (nobody reports it)
            await asyncio.sleep(DRAIN_POLL_SECONDS)

    def _owes_answers(self) -> bool:
        return any(connection.is_owed_an_answer for connection in self._connections)


def _bounds(config: BrokerConfig) -> dict[str, int]:
    """Who may connect, as ``ConnectionLimits`` takes it."""
    return {
        "total_max": config.integer("max.connections"),
        "per_address_max": config.integer("max.connections.per.ip"),
        "creation_rate_max": config.integer("max.connection.creation.rate"),
    }
