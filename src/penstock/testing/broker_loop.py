"""The event loop of a broker that runs in a thread: its time can be moved, its links cut, its life ended.

Between a process that is killed and a thread there is one great difference: nobody cleans up after a thread.
So ``bury`` does what the kernel does, and lets nothing of the dead broker run while it does it, except for
``finally`` blocks, which find neither disk nor network.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable, Coroutine
from typing import Any

from penstock.testing.links import Links
from penstock.testing.movable_clock import MovableClock

logger = logging.getLogger("penstock.broker.loop")

QUIET_TURNS = 5
"""So many turns of the loop in which nothing happened mean that nothing will."""

SETTLE_TURNS_MAX = 100_000
WORKERS_POLL_SECONDS = 0.001

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Killed(SystemExit):
    """Leaves the loop at once: of all errors in a callback, asyncio lets only this kind through."""


class BrokerLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, with the hands that a test needs on it."""

    def __init__(self, clock: MovableClock, links: Links) -> None:
        self._movable_clock = clock
        self._links = links
        self._servers: list[asyncio.AbstractServer] = []
        super().__init__()
        self.set_debug(False)  # a debugged test need not hear of a broker's slow callbacks
        self.set_exception_handler(_log_accident)

    def time(self) -> float:
        """Seconds as this broker counts them, so that its timers move with its clock."""
        return self._movable_clock.monotonic()

    async def create_server(self, *arguments: Any, **options: Any) -> asyncio.Server:
        """Listen, and remember it for the end."""
        server = await super().create_server(*arguments, **options)
        self._servers.append(server)
        return server

    async def create_connection(  # type: ignore[override] # typeshed's overloads name a dozen options
        self, factory: Callable[[], asyncio.BufferedProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect to another broker, if the link to it is not cut; a cut link says nothing."""
        await self._links.wait_open(port)
        connect = super().create_connection
        return await connect(lambda: self._links.watch(factory(), port), host, port)

    def _make_socket_transport(
        self,
        sock: socket.socket,
        protocol: asyncio.BaseProtocol,
        waiter: "asyncio.Future[None] | None" = None,
        *,
        extra: dict[str, Any] | None = None,
        server: asyncio.Server | None = None,
    ) -> asyncio.Transport:
        """As asyncio does it, but what was accepted just before its server was closed is closed too.

        asyncio forgets it: the transport fails half made, and its socket stays open until it is collected.
        """
        if server is not None and not server.sockets:
            sock.close()
            raise ConnectionAbortedError("the server was closed before it could serve this connection")
        make: Callable[..., asyncio.Transport] = super()._make_socket_transport  # type: ignore[misc]
        return make(sock, protocol, waiter, extra=extra, server=server)

    async def settle(self, is_idle: Callable[[], bool]) -> None:
        """Return when everything that could happen now has happened, or when it never ends."""
        quiet_turns = 0
        for _ in range(SETTLE_TURNS_MAX):
            is_busy = not is_idle()
            await asyncio.sleep(WORKERS_POLL_SECONDS if is_busy else 0)
            # What else was ready in this turn, beside this very task, has run or stands behind it.
            quiet_turns = 0 if is_busy or self._ready else quiet_turns + 1  # type: ignore[attr-defined]
            if quiet_turns >= QUIET_TURNS:
                return

    # The end.

    def bury(self, *, resets_connections: bool) -> None:
        """Close everything. The loop must not run any more; afterwards it cannot."""
        self.set_exception_handler(_say_nothing)
        tasks = asyncio.all_tasks(self)  # nobody else may know those whose first step has not come yet
        self._forget_handles()
        for server in self._servers:
            server.close()
        for transport in list(self._transports.values()):  # type: ignore[attr-defined]
            _hang_up(transport, resets=resets_connections)
        self.call_soon(self.stop)
        self.run_forever()  # transports close their sockets in the next turn
        for task in tasks | asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined] # CPython's switch
            _close_coroutine(task)
        self._forget_handles()
        self.close()

    def _forget_handles(self) -> None:
        self._ready.clear()  # type: ignore[attr-defined]
        self._scheduled.clear()  # type: ignore[attr-defined]


def _hang_up(transport: Any, *, resets: bool) -> None:
    """Close a connection without telling the broker's side of it."""
    if transport._sock is None:
        return
    transport.set_protocol(asyncio.Protocol())
    if resets:
        transport._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    if transport.is_closing():
        transport._call_connection_lost(None)  # it was about to be called, and is not any more
    else:
        transport.abort()


def _close_coroutine(task: "asyncio.Task[Any]") -> None:
    """Let its ``finally`` blocks run; what they still want no longer matters."""
    coroutine = task.get_coro()
    if not isinstance(coroutine, Coroutine):
        return
    frame = getattr(coroutine, "cr_frame", None)
    if frame is not None and isinstance(accepted := frame.f_locals.get("conn"), socket.socket):
        accepted.close()  # accepted, and not handed to anybody yet
    try:
        coroutine.close()
    except RuntimeError:
        return  # it wanted to wait for something


def _log_accident(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logger.error(
        "accident on the loop", exc_info=context.get("exception"), extra={"what": context.get("message")}
    )


def _say_nothing(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Whatever befalls the remains is nobody's concern."""
