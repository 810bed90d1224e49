"""A gateway on a socket: bound before anything else, so that a taken port is told at once and in words."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from penstock.gateway.app import build_app
from penstock.gateway.connections import BoundedConnection
from penstock.gateway.gateway import Gateway
from penstock.gateway.security.guard import HEADER_BYTES_MAX, Guard
from penstock.gateway.settings import GatewaySettings
from penstock.model.errors import OperatingError

KEEP_ALIVE_SECONDS = 30
STOP_SECONDS_MAX = 3
BACKLOG = 128
START_SECONDS_MAX = 30.0


class CannotListenError(OperatingError):
    """The address is taken, not ours, or not of this machine."""


class GatewayServer:
    """One gateway that listens; ``run`` blocks, ``start`` and ``stop`` use a thread."""

    def __init__(self, settings: GatewaySettings, *, on_up: Callable[[str], None] | None = None) -> None:
        self.gateway = Gateway(settings)
        self._socket = _bind(settings.host, settings.port)
        self._server = _Server(_config(self.gateway), self.gateway, on_up=self._come_up)
        self._on_up = on_up
        self._is_up = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it is, without a slash at the end."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def run(self) -> None:
        """Serve until a signal comes or ``stop`` is called."""
        self._server.run(sockets=[self._socket])

    def start(self) -> Self:
        """Serve in a thread, and return when requests are answered."""
        self._thread = threading.Thread(target=self.run, name="penstock-gateway", daemon=True)
        self._thread.start()
        if not self._is_up.wait(START_SECONDS_MAX):
            raise OperatingError(f"The gateway at {self.url} was not up within {START_SECONDS_MAX:g} s.")
        return self

    def stop(self) -> None:
        """Stop, and return when it has."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(START_SECONDS_MAX)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _come_up(self) -> None:
        self._is_up.set()
        if self._on_up is not None:
            self._on_up(self.url)


class _Server(uvicorn.Server):
    """Says when it is up, ends streams before it waits for requests to end, and ends well when told to."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway, *, on_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._gateway = gateway
        self._on_up = on_up
        self._loop: asyncio.AbstractEventLoop | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End streams at once; what the cluster does from now on is no news."""
        if self._loop is not None:
            # Not here: the next signal would wait for the event's lock, which what it interrupted holds.
            self._loop.call_soon_threadsafe(self._gateway.closing.set)
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop by a signal and be done: uvicorn would have the same signal kill the process afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._loop = asyncio.get_running_loop()
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._on_up()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.closing.set()
        await super().shutdown(sockets=sockets)


def _config(gateway: Gateway) -> uvicorn.Config:
    return uvicorn.Config(
        Guard(build_app(gateway), gateway),
        loop="asyncio",
        http=BoundedConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS_MAX,
        h11_max_incomplete_event_size=HEADER_BYTES_MAX,
    )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio looks at it before it turns Nagle's algorithm off.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        reason = (error.strerror or str(error)).lower()
        raise CannotListenError(f"The gateway cannot listen on {host}:{port}: {reason}.") from error
    return bound
