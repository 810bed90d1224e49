"""Who runs a pipeline, as files say it."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.spark.pipelines.running.run_files import (
    AlreadyRunning,
    RunState,
    only_runner,
    process_identity,
    read_run_file,
    this_run,
    write_run_file,
)


def test_run_file_of_this_process_says_that_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.json"
    run = this_run("shop", "p.yml", started_ms=5)
    write_run_file(path, run)

    assert read_run_file(path) == run
    assert run.pid == os.getpid()
    assert read_run_file(tmp_path / "nothing.json") is None


def test_run_whose_process_is_gone_has_died(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        identity = process_identity(process.pid)
        assert identity
        run = replace(this_run("shop", "p.yml", started_ms=5), pid=process.pid, process=identity)
    write_run_file(tmp_path / "run.json", run)

    found = read_run_file(tmp_path / "run.json")
    assert found is not None
    assert found.state is RunState.DIED


def test_process_that_has_ended_but_is_not_waited_for_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_identity(process.pid) is None
    finally:
        process.wait()


def test_run_elsewhere_is_believed(tmp_path: Path) -> None:
    run = replace(this_run("shop", "p.yml", started_ms=5), host="elsewhere", pid=1, process="x")
    write_run_file(tmp_path / "run.json", run)

    assert read_run_file(tmp_path / "run.json") == run


def test_lock_is_held_by_one_runner_at_a_time(tmp_path: Path) -> None:
    lock, path = tmp_path / "LOCK", tmp_path / "run.json"
    with only_runner(lock, path, "shop"):
        with (
            pytest.raises(AlreadyRunning, match="already run by another process"),
            only_runner(lock, path, "shop"),
        ):
            raise AssertionError("two at once")
        write_run_file(path, this_run("shop", "p.yml", started_ms=5))
        with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), only_runner(lock, path, "shop"):
            raise AssertionError("two at once")
    with only_runner(lock, path, "shop"):
        pass
