"""``penstock pipeline list`` and ``status``: what the topic of progress and run files say."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.pipeline.test_screen import FAILURE, PROGRESS
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.reporting.progress_topic import ProgressTopic
from penstock.spark.pipelines.running.events import FlowFailed, FlowProgressed, FlowStarted, RecordsLeft
from penstock.spark.pipelines.running.run_files import RunState, this_run, write_run_file
from penstock.spark.pipelines.running.storage import storage_of

pytestmark = pytest.mark.slow


@pytest.fixture
def pipeline(terminal: Terminal, bootstrap: str, unique: UniqueName, tmp_path: Path) -> str:
    """A pipeline that was heard of, and whose file is ``p.yml``."""
    name = unique("shop")
    file = tmp_path / "p.yml"
    terminal.must("pipeline", "init", str(file))
    file.write_text(file.read_text().replace("name: orders", f"name: {name}"))
    topic = ProgressTopic(
        bootstrap, name, about={"host": "here", "pid": 7, "started_ms": 0}, warn=pytest.fail
    )
    topic(FlowStarted("revenue"))
    topic(FlowProgressed(replace(PROGRESS, pipeline=name)))
    topic(RecordsLeft("revenue", "orders.dlq", 3))
    topic(FlowStarted("revenue"))
    topic.close()
    return name


def test_list_has_what_was_heard_of_and_what_never_ran(
    terminal: Terminal, pipeline: str, tmp_path: Path
) -> None:
    listed = terminal.must("pipeline", "list").output.splitlines()
    assert listed[0].split() == ["PIPELINE", "STATE", "FLOWS", "LAG", "HOST", "PROCESS", "STARTED"]
    (line,) = [line for line in listed if line.startswith(pipeline)]
    assert line.split()[:6] == [pipeline, "running", "1", "1,200", "here", "7"]

    of_file = terminal.must("pipeline", "list", str(tmp_path / "p.yml"), "--json").json()
    (row,) = [row for row in of_file if row["pipeline"] == pipeline]
    assert (row["state"], row["lag"]) == ("never ran", 1_200)


def test_status_shows_every_flow(terminal: Terminal, pipeline: str, tmp_path: Path) -> None:
    file = str(tmp_path / "p.yml")
    shown = terminal.must("pipeline", "status", file).output.splitlines()
    assert shown[0] == f"{pipeline}: never ran"
    assert shown[2].split()[:6] == ["revenue", "running", "12", "2,500", "1,200", "2026-01-01"]

    run = this_run(pipeline, file, started_ms=0)
    ended = replace(run, state=RunState.FAILED, failures=(str(FAILURE),))
    write_run_file(storage_of(load_pipeline(Path(file))).run_file, ended)
    shown = terminal.must("pipeline", "status", file).output.splitlines()
    assert shown[0].startswith(f"{pipeline}: failed, started 1970-01-01 00:00:00 as process {run.pid} on ")
    assert shown[1] == "  Flow 'revenue', step 1 (parse): It broke."
    assert shown[3].split()[:2] == ["revenue", "failed"]


def test_list_tells_of_failures_first(terminal: Terminal, bootstrap: str, unique: UniqueName) -> None:
    name = unique("shop")
    topic = ProgressTopic(bootstrap, name, about={}, warn=pytest.fail)
    for event in (FlowStarted("revenue"), FlowStarted("other"), FlowFailed(FAILURE)):
        topic(event)
    topic.close()

    (row,) = [row for row in terminal.must("pipeline", "list", "--json").json() if row["pipeline"] == name]
    assert (row["state"], row["flows"]) == ("failed", 2)


def test_list_without_a_broker_says_how_to_start_one(
    closed_port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Terminal(f"127.0.0.1:{closed_port}", capsys, monkeypatch).run("pipeline", "list")

    assert answer.code == 1
    assert "No broker answers" in answer.errors
    assert "penstock serve" in answer.errors
