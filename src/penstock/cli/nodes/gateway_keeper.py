"""The gateway beside brokers that this process runs or minds: a child of its own, which never harms them.

It is started when the brokers are ready, told apart by its own session, restarted a few times if it dies, and
ended with this process. That it cannot start, since its port is taken, say, is told and nothing else.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from penstock.cli.gateway.starting import INSTALL, is_installed
from penstock.cli.output import tell_json_line

GATEWAY_VARIABLE = "PENSTOCK_GATEWAY"
OFF = "off"
DEFAULT_LISTEN = "127.0.0.1:8080"
UP_PREFIX = "gateway on "
RESTARTS_MAX = 5
RESTART_SECONDS = 1.0
STOP_SECONDS_MAX = 8.0

_ANY_INTERFACE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}
"""For brokers that listen on every interface: the one that is surely there."""


def chosen_listen(given: str | None, *, is_off: bool) -> str | None:
    """Where the gateway is to listen: as an option says, or the environment; None for no gateway."""
    listen = OFF if is_off else given or os.environ.get(GATEWAY_VARIABLE) or DEFAULT_LISTEN
    return None if listen == OFF else listen


def print_console(url: str) -> None:
    """Say to people where the console is."""
    print(f"console on {url}/", flush=True)


def print_console_json(url: str) -> None:
    """Say it to programs."""
    tell_json_line({"console": f"{url}/"})


class GatewayKeeper:
    """Keeps one gateway running between ``start`` and ``stop``; without a place to listen, none."""

    def __init__(self, listen: str | None, *, tell: Callable[[str], None]) -> None:
        self._listen = listen
        self._tell_up = tell
        self._is_stopping = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None

    def start(self, address: str) -> None:
        """Have a gateway started in front of the broker there, or of several; returns at once."""
        if self._listen is None:
            return
        if not is_installed():
            _tell(f"no console: it needs FastAPI and uvicorn; {INSTALL}")
            return
        servers = ",".join(map(_reachable, address.split(",")))
        # A daemon: Linux ends the gateway when the thread that started it is no more.
        self._thread = threading.Thread(
            target=self._keep, args=(servers, self._listen), name="gateway-keeper", daemon=True
        )
        self._thread.start()

    def go(self) -> None:
        """Tell the gateway to end, and do not wait for it."""
        self._is_stopping.set()
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()

    def stop(self) -> None:
        """End the gateway, if there is one, within a bounded time."""
        self.go()
        process = self._process
        if process is not None:
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS_MAX)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _keep(self, servers: str, listen: str) -> None:
        for restart in range(RESTARTS_MAX + 1):
            has_been_up, code = self._run(servers, listen)
            if self._is_stopping.is_set():
                return
            if not has_been_up:
                _tell(f"no console: the gateway could not start on {listen} (exit code {code})")
                return
            _tell(f"the gateway has ended with code {code}; the brokers go on")
            if self._is_stopping.wait(RESTART_SECONDS * 2**restart):
                return
        _tell(f"the gateway has ended {RESTARTS_MAX + 1} times and is not started again")

    def _run(self, servers: str, listen: str) -> tuple[bool, int]:
        """Whether it came up, and the code with which it ended."""
        process = self._spawn(servers, listen)
        if process is None:
            return False, 0
        has_been_up = False
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                if line.startswith(UP_PREFIX) and not has_been_up:
                    has_been_up = True
                    self._tell_up(line.removeprefix(UP_PREFIX).strip())
        return has_been_up, process.wait()

    def _spawn(self, servers: str, listen: str) -> "subprocess.Popen[str] | None":
        words = [sys.executable, "-P", "-m", "penstock", "gateway", "--listen", listen]
        words += ["--bootstrap-server", servers, "--parent", str(os.getpid())]
        with self._lock:
            if self._is_stopping.is_set():
                return None
            try:
                self._process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            except OSError as error:
                _tell(f"no console: the gateway cannot be started: {error}")
                return None
            return self._process


def _reachable(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"{_ANY_INTERFACE.get(host, host)}:{port}"


def _tell(what: str) -> None:
    print(f"penstock: {what}", file=sys.stderr, flush=True)
