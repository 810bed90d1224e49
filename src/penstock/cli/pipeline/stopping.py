"""``penstock pipeline stop``: a signal to the very process that runs a pipeline, and patience."""

import os
import signal
import socket
import time
from pathlib import Path

from penstock.cli.durations import parse_duration
from penstock.cli.failure import CommandFailed
from penstock.cli.output import print_json, working
from penstock.cli.pipeline.checking import load_checked
from penstock.spark.pipelines.loading import load_whereabouts
from penstock.spark.pipelines.running.run_files import RunFile, RunState, is_alive, read_run_file
from penstock.spark.pipelines.running.storage import storage_of

_POLL_SECONDS = 0.1


def stop_run(file: Path, timeout: str, *, as_json: bool) -> None:
    """Ask the process to stop and wait until it is gone."""
    timeout_ms = parse_duration(timeout, option="--timeout")
    pipeline = load_checked(file, load_whereabouts)
    path = storage_of(pipeline).run_file
    run = _running(pipeline.name, read_run_file(path))
    os.kill(run.pid, signal.SIGTERM)
    with working(f"process {run.pid} stops"):
        is_gone = _wait(run, timeout_ms / 1000)
    if not is_gone:
        raise CommandFailed(
            f"Process {run.pid} still runs the pipeline {pipeline.name!r} after {timeout}.",
            hint="A micro-batch may take long; wait with a longer --timeout, or stop the process yourself.",
        )
    ended = read_run_file(path)
    state = RunState.DIED if ended is None else ended.state
    if as_json:
        print_json({"pipeline": pipeline.name, "pid": run.pid, "state": state.value})
    else:
        print(f"{pipeline.name}: {state}")


def _running(name: str, run: RunFile | None) -> RunFile:
    if run is None or run.state is not RunState.RUNNING:
        what = "never ran" if run is None else f"is {run.state}"
        raise CommandFailed(
            f"The pipeline {name!r} {what}; there is nothing to stop.",
            hint="See what runs with `penstock pipeline list`.",
        )
    if run.host != socket.gethostname():
        raise CommandFailed(
            f"The pipeline {name!r} runs on {run.host}, as process {run.pid}.", hint="Stop it there."
        )
    return run


def _wait(run: RunFile, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(run) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return not is_alive(run)
