"""A real ``penstock serve`` process under a test's control, and how to look at it from outside.

Everything is done by process id, so that a test never touches a broker it did not start.
"""

import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

READY_PREFIX = "penstock ready on "
START_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 20.0
STDERR_TAIL_BYTES = 6000

LOG_TOPIC_SETTING = "server.log.topic.enable"
WITHOUT_LOG_TOPIC = {"PENSTOCK_SERVER_LOG_TOPIC_ENABLE": "false"}
"""Unless a test says otherwise: topics are those that it makes, and hold nothing but what it writes."""

STARTED: "list[Server]" = []
"""Servers that were started and not yet closed; what a failed test shows, and what the end cleans up."""


class ServerFailedError(AssertionError):
    """The broker did not do what a test needs before the test proper: start, stop, stay alive."""


def penstock_command() -> list[str]:
    """The installed console script of the interpreter that runs the tests."""
    return [str(Path(sys.executable).with_name("penstock"))]


def wait_until(
    condition: Callable[[], object], *, what: str, seconds: float = 15.0, every_seconds: float = 0.02
) -> None:
    """Return as soon as ``condition`` holds; fail, saying ``what`` was awaited, when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(every_seconds)


class Server:
    """One broker on one data directory; may be started, stopped and killed many times.

    The first start takes a free port; later ones ask for the same, so that clients find it again.
    """

    def __init__(
        self,
        directory: Path,
        *,
        settings: Mapping[str, object] | None = None,
        environment: Mapping[str, str] | None = None,
        data_directory: Path | None = None,
    ) -> None:
        self.directory = directory
        self.data_directory = data_directory or directory / "data"
        self.settings = {key: _as_text(value) for key, value in (settings or {}).items()}
        self.environment = dict(environment or {})
        self.command_prefix: Sequence[str] = ()
        self.join = ""
        """``host:port`` of brokers whose cluster it joins; empty for one that founds its own."""
        self.stderr_path = directory / "stderr.log"
        self.host = "127.0.0.1"
        self.port = 0
        self.known_port = 0
        """Where others are told to connect to; 0 while it is told the same as it listens on."""
        self.ready_seconds = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)

    # Running it.

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for anything."""
        if self.is_running:
            raise ServerFailedError(f"already running as {self.pid}")
        with self.stderr_path.open("ab") as stderr:
            self._process = subprocess.Popen(
                [*self.command_prefix, *penstock_command(), "serve", *self._arguments()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=self.directory,
                env={**clean_environment(), **self._usual_environment(), **self.environment},
            )
        if self not in STARTED:
            STARTED.append(self)
        return self._process

    def start(self, *, seconds: float = START_SECONDS_MAX) -> "Server":
        """Start it and return when it has said that it is ready."""
        began = time.monotonic()
        self.launch()
        self.wait_ready(seconds=seconds)
        self.ready_seconds = time.monotonic() - began
        return self

    def wait_ready(self, *, seconds: float = START_SECONDS_MAX) -> None:
        """Return when the process has said that it is ready."""
        line = self._read_line(self._running(), deadline=time.monotonic() + seconds)
        if not line.startswith(READY_PREFIX):
            raise ServerFailedError(
                f"first line on stdout is {line!r}, not {READY_PREFIX!r}\n{self.stderr_tail()}"
            )
        self.host, _, port = line.removeprefix(READY_PREFIX).rpartition(":")
        self.port = int(port)

    def advertise(self, port: int) -> None:
        """Tell others to connect to another port, behind which somebody forwards; before the first start."""
        self.known_port = port
        self.settings["advertised.listeners"] = f"PLAINTEXT://{self.host}:{port}"

    def stop(self, *, seconds: float = STOP_SECONDS_MAX) -> int:
        """Ask it politely to end; the exit code. One that is too slow is killed, and the test fails."""
        process = self._running()
        process.send_signal(signal.SIGTERM)
        try:
            return self.wait_exit(seconds=seconds)
        except ServerFailedError:
            self.kill()
            raise

    def kill(self) -> None:
        """SIGKILL: the process gets no chance to do anything, not even when it is frozen."""
        process = self._running()
        process.send_signal(signal.SIGKILL)
        process.wait()
        self._forget_process()

    def wait_exit(self, *, seconds: float = STOP_SECONDS_MAX) -> int:
        """The exit code of a process that ends by itself."""
        process = self._running()
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ServerFailedError(f"still running after {seconds} s\n{self.stderr_tail()}") from None
        self._forget_process()
        return code

    def restart(self) -> "Server":
        """Start again on the same directory and port."""
        return self.start()

    def close(self) -> None:
        """Whatever state it is in, leave no process behind."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGCONT)
                self._process.kill()
            self._process.wait()
            self._forget_process()
        if self in STARTED:
            STARTED.remove(self)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Frozen by SIGSTOP for the length of the block."""
        self._running().send_signal(signal.SIGSTOP)
        try:
            wait_until(self._is_frozen, what="the process to stand still")
            yield
        finally:
            if self._process is not None:
                self._process.send_signal(signal.SIGCONT)

    def _is_frozen(self) -> bool:
        return "State:\tT" in Path(f"/proc/{self.pid}/status").read_text()

    # Looking at it.

    @property
    def bootstrap(self) -> str:
        """``host:port`` for clients."""
        return f"{self.host}:{self.port}"

    @property
    def known_address(self) -> str:
        """``host:port`` that clients and other brokers are told."""
        return f"{self.host}:{self.known_port or self.port}"

    @property
    def pid(self) -> int:
        """Of the broker itself (a tracer put before it must keep out of the way, as ``strace -D`` does)."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether a process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def resident_bytes(self) -> int:
        """Memory held right now."""
        return self._status_kib("VmRSS") * 1024

    def thread_count(self) -> int:
        """Operating system threads."""
        return self._status_kib("Threads")

    def open_file_count(self) -> int:
        """File descriptors, sockets included."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def stderr_text(self) -> str:
        """All it has logged, over all its lives."""
        return self.stderr_path.read_text(errors="replace") if self.stderr_path.exists() else ""

    def stderr_tail(self) -> str:
        """The end of its log."""
        return self.stderr_text()[-STDERR_TAIL_BYTES:]

    def partition_directory(self, topic: str, partition: int = 0) -> Path:
        """Where a partition's files are."""
        return self.data_directory / f"{topic}-{partition}"

    def segment_paths(self, topic: str, partition: int = 0) -> list[Path]:
        """A partition's log files, oldest first."""
        return sorted(self.partition_directory(topic, partition).glob("*.log"))

    # Inside.

    def _arguments(self) -> list[str]:
        arguments = ["--listen", f"{self.host}:{self.port}", "--data-dir", str(self.data_directory)]
        if self.join:
            arguments += ["--join", self.join]
        if self.settings:
            path = self.directory / "server.properties"
            path.write_text("".join(f"{key}={value}\n" for key, value in self.settings.items()))
            path.chmod(0o600)
            arguments += ["--config", str(path)]
        return arguments

    def _usual_environment(self) -> Mapping[str, str]:
        return {} if LOG_TOPIC_SETTING in self.settings else WITHOUT_LOG_TOPIC

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ServerFailedError("the broker is not running")
        return self._process

    def _forget_process(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    def _read_line(self, process: subprocess.Popen[bytes], *, deadline: float) -> str:
        assert process.stdout is not None
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.kill()
                    raise ServerFailedError(f"not ready in time\n{self.stderr_tail()}")
                piece = os.read(process.stdout.fileno(), 4096)
                if not piece:
                    code = self.wait_exit()
                    raise ServerFailedError(f"ended with {code} before it was ready\n{self.stderr_tail()}")
                text += piece
        return text.decode().rstrip("\n")

    def _status_kib(self, field: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
        raise ServerFailedError(f"/proc/{self.pid}/status has no {field}")


def clean_environment() -> dict[str, str]:
    """Ours without settings: a broker takes every PENSTOCK_ variable for one, and tests have some too.

    Tests start hundreds of brokers; those that want a gateway say so.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    return ours | {"PENSTOCK_GATEWAY": "off"}


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@atexit.register
def close_all() -> None:
    """The last net under a broken test run."""
    for server in list(STARTED):
        server.close()
