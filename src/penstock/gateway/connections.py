"""Connections of a gateway, bounded: how many there are, and how long each may take to say what it wants.

uvicorn bounds neither a connection that says nothing nor one that sends its headers byte by byte; whoever has
a few hundred of them could keep everybody else out.
"""

import asyncio
import json
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MAX = 512
HEADER_SECONDS_MAX = 10.0
WRITE_MS_MAX = 60_000

_FULL = json.dumps(
    {
        "error_code": 503,
        "message": f"The gateway has {CONNECTIONS_MAX} connections, which is all it may have.",
    }
).encode()
_FULL_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(_FULL), _FULL)
)


def _bound_writing(connection: socket.socket | None) -> None:
    """Have the kernel end a connection whose other side takes nothing, where it can."""
    if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, WRITE_MS_MAX)


class BoundedConnection(H11Protocol):
    """uvicorn's connection, with a bound on their number and on the time until a request is there."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Refuse it when there are enough, and otherwise wait for its first request."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            transport.write(_FULL_ANSWER)
            transport.close()
            return
        _bound_writing(transport.get_extra_info("socket"))
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Wait on for a request that has only begun."""
        if not self.transport.is_closing():
            super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._patience is None and self.timeout_keep_alive_task is None:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody waits for it any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_request(self) -> None:
        self._patience = self.loop.call_later(HEADER_SECONDS_MAX, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()
