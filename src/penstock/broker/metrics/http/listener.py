"""The listening socket of the small HTTP server."""

import asyncio
import errno

from penstock.broker.metrics.http.connection import HttpConnection, HttpSurroundings
from penstock.model.errors import OperatingError

LISTEN_BACKLOG = 64


class HttpListener:
    """Takes an address, and lets it go."""

    def __init__(self, around: HttpSurroundings) -> None:
        self._around = around
        self._listening: asyncio.Server | None = None
        #: Where it listens; empty until it does.
        self.address = ""

    async def start(self, host: str, port: int) -> None:
        """Listen there; ``OperatingError`` when it cannot be had. Port 0 takes a free one."""
        try:
            await self._listen(host, port)
        except (OSError, OverflowError) as error:
            raise OperatingError(
                f"Cannot serve metrics on {host}:{port}: {_reason(error)}. "
                "Choose another address with metrics.listener=HOST:PORT, or none with metrics.listener=off."
            ) from error

    async def start_near(self, host: str, port: int) -> None:
        """Listen there if that can be had, otherwise on any free port."""
        try:
            await self._listen(host, port)
        except (OSError, OverflowError):
            await self.start(host, 0)

    async def stop(self) -> None:
        """Hang up, and listen no more."""
        if self._listening is None:
            return
        self._listening.close()
        for connection in list(self._around.connections):
            connection.close()
        await self._around.tasks.stop()
        await self._listening.wait_closed()
        self._listening = None

    async def _listen(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            lambda: HttpConnection(self._around, loop), host or None, port, backlog=LISTEN_BACKLOG
        )
        taken = self._listening.sockets[0].getsockname()[1]
        shown = host or "0.0.0.0"
        self.address = f"[{shown}]:{taken}" if ":" in shown else f"{shown}:{taken}"


def _reason(error: OSError | OverflowError) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "the address is taken"
    return str(error)
