"""A broker as a process of its own: ``python -m penstock serve``, with real signals."""

import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from penstock.config.sources import ENVIRONMENT_PREFIX
from penstock.model.errors import OperatingError, UsageError
from penstock.testing.machine import HOST
from penstock.testing.movable_clock import steady_seconds
from penstock.testing.settings import config_of

READY_PREFIX = "penstock ready on "
START_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 20.0
LOG_TAIL_BYTES = 8_000


class BrokerProcess:
    """One life of a broker."""

    def __init__(self, directory: Path, settings: Mapping[str, str], *, port: int, log_file: Path) -> None:
        config_of(settings)  # The process would name its command line, which its test has not written.
        self._directory = directory
        self._settings = settings
        self._port = port
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None
        self._is_paused = False

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_paused(self) -> bool:
        """Whether it was stopped by SIGSTOP."""
        return self._is_paused

    @property
    def pid(self) -> int:
        """Its number."""
        return self._started().pid

    def launch(self) -> None:
        """Begin to start."""
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_clean_environment(),
                process_group=0,  # Ctrl-C is for whoever started it, and may still want to ask it something.
            )

    def wait_ready(self) -> None:
        """Return when clients may connect."""
        line = self._read_line(steady_seconds() + START_SECONDS_MAX)
        if not line.startswith(READY_PREFIX):
            raise OperatingError(f"The broker said {line!r} instead of being ready.\n{self.log_tail()}")

    def stop(self) -> None:
        """End in good order."""
        self.resume()
        if not self.is_running:
            self._let_go()
            return
        self._signal(signal.SIGTERM)
        try:
            self._started().wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise OperatingError(
                f"The broker had not stopped within {STOP_SECONDS_MAX:g} s and was killed.\n{self.log_tail()}"
            ) from None
        self._let_go()

    def kill(self) -> None:
        """SIGKILL, which reaches a stopped process too."""
        if self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._let_go()

    def pause(self) -> None:
        """SIGSTOP."""
        self._signal(signal.SIGSTOP)
        self._is_paused = True

    def resume(self) -> None:
        """SIGCONT."""
        if self._is_paused:
            self._signal(signal.SIGCONT)
            self._is_paused = False

    def log_tail(self) -> str:
        """The end of what it logged, over all lives."""
        return self._log_file.read_text(errors="replace")[-LOG_TAIL_BYTES:]

    def _command(self) -> list[str]:
        words = [sys.executable, "-m", "penstock", "serve", "--data-dir", str(self._directory)]
        words += ["--listen", f"{HOST}:{self._port}", "--no-gateway"]
        if threading.current_thread() is threading.main_thread():
            # Linux counts from the thread that started it, so it must be one that lives as long as we do.
            words += ["--parent", str(os.getpid())]
        for name, value in self._settings.items():
            words += ["--set", f"{name}={value}"]
        return words

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise UsageError("The broker is not running: start or restart it first.")
        return self._process

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._started().send_signal(number)

    def _let_go(self) -> None:
        self._is_paused = False
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()

    def _read_line(self, deadline: float) -> str:
        output = self._started().stdout
        assert output is not None
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - steady_seconds())):
                    raise OperatingError(f"The broker was not ready in time.\n{self.log_tail()}")
                piece = os.read(output.fileno(), 4096)
                if not piece:
                    raise OperatingError(f"The broker ended before it was ready.\n{self.log_tail()}")
                text += piece
        return text.decode().rstrip("\n")


def _clean_environment() -> dict[str, str]:
    """Ours without settings: what is set for the tests' own sake is not meant for this broker."""
    return {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
