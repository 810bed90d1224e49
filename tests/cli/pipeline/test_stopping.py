"""``penstock pipeline stop`` and the files that say who runs."""

import fcntl
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running.run_files import RunFile, process_identity, this_run, write_run_file
from penstock.spark.pipelines.running.storage import storage_of

pytestmark = pytest.mark.slow


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal("127.0.0.1:1", capsys, monkeypatch)
    terminal.must("pipeline", "init")
    return terminal


def pretend(run: RunFile) -> Path:
    """Write the file as if that process ran the pipeline."""
    path = storage_of(load_pipeline(Path("penstock-pipeline.yml"))).run_file
    write_run_file(path, run)
    return path


def sleeper() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def run_of(pid: int) -> RunFile:
    return replace(
        this_run("orders", "penstock-pipeline.yml", started_ms=1),
        pid=pid,
        process=process_identity(pid) or "",
    )


def test_stop_ends_the_process_and_waits(terminal: Terminal) -> None:
    with sleeper() as process:
        pretend(run_of(process.pid))

        answer = terminal.must("pipeline", "stop", "--json").json()

        assert answer == {"pipeline": "orders", "pid": process.pid, "state": "died"}
        assert process.wait(10) == -15


def test_stop_ends_what_runs_since_before_its_file_got_a_mistake(terminal: Terminal, tmp_path: Path) -> None:
    with sleeper() as process:
        pretend(run_of(process.pid))
        file = tmp_path / "penstock-pipeline.yml"
        file.write_text(file.read_text() + "\nno such key: 1\n")

        assert terminal.must("pipeline", "stop", "--json").json()["pid"] == process.pid
        assert process.wait(10) == -15


@pytest.mark.parametrize("text", ["name: orders\n", "storage: here\n", "name: [", ""])
def test_stop_by_a_file_that_does_not_tell_what_runs_says_what_is_wrong(
    terminal: Terminal, tmp_path: Path, text: str
) -> None:
    (tmp_path / "penstock-pipeline.yml").write_text(text)

    answer = terminal.run("pipeline", "stop")

    assert answer.code == 2
    assert "penstock-pipeline.yml:1:" in answer.errors


def test_stop_leaves_another_process_of_the_same_number_alone(terminal: Terminal) -> None:
    with sleeper() as process:
        pretend(replace(run_of(process.pid), process="an earlier one"))

        answer = terminal.run("pipeline", "stop")

        assert answer.code == 1
        assert "The pipeline 'orders' is died; there is nothing to stop." in answer.errors
        assert process.poll() is None
        process.kill()


def test_stop_of_what_runs_elsewhere_says_where(terminal: Terminal) -> None:
    pretend(replace(run_of(1), host="elsewhere"))

    assert "runs on elsewhere, as process 1" in terminal.run("pipeline", "stop").errors


def test_stop_of_what_never_ran_says_so(terminal: Terminal) -> None:
    answer = terminal.run("pipeline", "stop")

    assert answer.code == 1
    assert "The pipeline 'orders' never ran; there is nothing to stop." in answer.errors


def test_stop_gives_up_after_its_timeout(terminal: Terminal) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pretend(run_of(process.pid))

        answer = terminal.run("pipeline", "stop", "--timeout", "200ms")

        assert answer.code == 1
        assert f"Process {process.pid} still runs" in answer.errors
        process.kill()


def test_second_runner_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    lock = tmp_path / "pipeline-storage" / "LOCK"
    lock.parent.mkdir()
    pretend(run_of(1))
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        answer = terminal.run("pipeline", "run")

    assert answer.code == 1
    assert "The pipeline 'orders' is already run by process 1 on" in answer.errors
