"""Who runs a pipeline, or ran it last: a file below its storage, and a lock that ends with the process.

The file names the process by its number and by when it began, since numbers are used again. A process that
was killed cannot say so; then its lock is free and the file still says that it runs, which is told as *died*.
"""

import fcntl
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from penstock.model.errors import OperatingError

_PS_SECONDS_MAX = 5.0


class RunState(StrEnum):
    """What became of a run."""

    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"
    DIED = "died"
    """It was killed: the file says that it runs, and no such process is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """What the file says."""

    pipeline: str
    file: str
    host: str
    pid: int
    process: str
    """When the process began, as this machine tells it."""
    started_ms: int
    state: RunState = RunState.RUNNING
    ended_ms: int | None = None
    failures: tuple[str, ...] = ()


class AlreadyRunning(OperatingError):
    """Another process runs the pipeline."""


def this_run(pipeline: str, file: str, *, started_ms: int) -> RunFile:
    """What to write for the process that asks."""
    pid = os.getpid()
    return RunFile(
        pipeline=pipeline,
        file=file,
        host=socket.gethostname(),
        pid=pid,
        process=process_identity(pid) or "",
        started_ms=started_ms,
    )


def read_run_file(path: Path) -> RunFile | None:
    """What was written last, *died* if its process is gone; None if the pipeline never ran."""
    if not path.is_file():
        return None
    document = json.loads(path.read_text())
    document["state"] = RunState(document["state"])
    document["failures"] = tuple(document["failures"])
    found = RunFile(**document)
    is_here = found.host == socket.gethostname()
    if found.state is RunState.RUNNING and is_here and not is_alive(found):
        return replace(found, state=RunState.DIED)
    return found


def write_run_file(path: Path, run: RunFile) -> None:
    """Replace what was written before, in one go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(run), indent=2))
    fresh.replace(path)


def is_alive(run: RunFile) -> bool:
    """Whether the very process that wrote the file is still there."""
    return bool(run.process) and process_identity(run.pid) == run.process


@contextmanager
def only_runner(lock_path: Path, run_path: Path, pipeline: str) -> Iterator[None]:
    """Hold the pipeline's lock; two runners would spoil its checkpoints."""
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    with lock_path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = read_run_file(run_path)
            who = "another process" if other is None else f"process {other.pid} on {other.host}"
            raise AlreadyRunning(f"The pipeline {pipeline!r} is already run by {who}.") from None
        yield


def process_identity(pid: int) -> str | None:
    """What tells a process from later ones of the same number; None if there is none."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            text = stat.read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        fields = text.rpartition(")")[2].split()
        is_zombie = fields[0] == "Z"
        return None if is_zombie else f"{_boot()} {fields[19]}"
    done = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        timeout=_PS_SECONDS_MAX,
        check=False,
    )
    return done.stdout.strip() or None


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""
