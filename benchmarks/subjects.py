"""What is measured: Penstock processes that this run starts, and brokers that are already there."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

READY_PREFIX = "penstock ready on "
START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 60.0

NO_FLUSH = {"log.flush.interval.messages": "9223372036854775807"}
"""Kafka's own durability: acknowledged means in the page cache."""


class Subject(NamedTuple):
    """A broker to measure; ``data_directory`` is known of our own only."""

    name: str
    bootstrap_server: str
    data_directory: Path | None


class PenstockProcess:
    """A ``penstock serve`` on a directory of its own, stopped and removed in the end."""

    def __init__(
        self, directory: Path, settings: Mapping[str, str] | None = None, *, join: str | None = None
    ) -> None:
        self.data_directory = directory
        self.bootstrap_server = ""
        self._join = join
        self.ready_seconds = 0.0
        self._settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(signal.SIGTERM)
        shutil.rmtree(self.data_directory)

    def start(self) -> None:
        """Start it and wait for its ready line, which is timed from before the process exists."""
        command = [
            str(Path(sys.executable).with_name("penstock")),
            "serve",
            "--no-gateway",
            *self._arguments(),
        ]
        log_path = self.data_directory.with_suffix(".log")
        began = time.monotonic()
        with log_path.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        line = self._first_line(began + START_SECONDS_MAX)
        self.ready_seconds = time.monotonic() - began
        if not line.startswith(READY_PREFIX):
            raise SystemExit(f"penstock serve did not become ready; its log is {log_path}")
        self.bootstrap_server = line.removeprefix(READY_PREFIX).strip()

    def stop(self, number: signal.Signals) -> None:
        """End the process by a signal and wait for it."""
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait(STOP_SECONDS_MAX)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    def resident_megabytes(self) -> float:
        """Memory held right now."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024 / 1e6

    def cpu_seconds(self) -> float:
        """Processor time used since it was started."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _arguments(self) -> Sequence[str]:
        settings = [word for key, value in self._settings.items() for word in ("--set", f"{key}={value}")]
        join = [] if self._join is None else ["--join", self._join]
        listen = self.bootstrap_server or "127.0.0.1:0"
        return ["--listen", listen, "--data-dir", str(self.data_directory), *join, *settings]

    def _first_line(self, deadline: float) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], deadline - time.monotonic())
        return self._process.stdout.readline().decode() if ready else ""


def machine() -> str:
    """The machine in one line."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        "unknown processor",
    )
    memory = int(next(line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")))
    system = os.uname()
    return (
        f"{cpu}, {os.cpu_count()} cores shared by broker and load, {memory * 1024 / 1e9:.0f} GB memory, "
        f"{system.sysname} {system.release}, Python {sys.version.split()[0]}"
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
