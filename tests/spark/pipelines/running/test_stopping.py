"""How all flows of a run are stopped: each between two micro-batches, unless that takes too long."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running import runner as module
from penstock.spark.pipelines.running.events import Event, FlowEnded, FlowFailed
from penstock.spark.pipelines.running.runner import Runner
from penstock.spark.pipelines.running.watched_flow import WatchedFlow

FILE = """
name: p
storage: s
sources:
  numbers: {format: rate}
flows:
  FLOWS
"""
FLOW = "{from: numbers, sink: {format: noop}}"


class Query:
    """A query whose micro-batch ends at some time."""

    lastProgress = None
    recentProgress = ()

    def __init__(self, busy_seconds: float) -> None:
        self.isActive = True
        self._idle_at = time.monotonic() + busy_seconds
        self.was_torn = False

    @property
    def status(self) -> dict[str, Any]:
        return {"isTriggerActive": time.monotonic() < self._idle_at}

    def exception(self) -> None:
        return None

    def stop(self) -> None:
        self.isActive, self.was_torn = False, self.status["isTriggerActive"]


def running(queries: Mapping[str, Query], directory: Path, events: list[Event]) -> Runner:
    """A run of flows with these queries, which tells what becomes of them."""
    flows = "\n  ".join(f"{name}: {FLOW}" for name in queries)
    (directory / "p.yml").write_text(FILE.replace("FLOWS", flows))
    pipeline = load_pipeline(directory / "p.yml")
    runner = Runner(cast("Any", None), pipeline, topic_options={}, listener=events.append)
    runner._watched = [
        WatchedFlow("p", pipeline.flows[name], query, sides=None) for name, query in queries.items()
    ]
    return runner


def test_flows_are_stopped_together_and_none_waits_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_PATIENCE_SECONDS", 2.0)
    queries = {"endless": Query(3600), "stuck": Query(3600), "short": Query(0.2), "idle": Query(0)}
    events: list[Event] = []
    runner = running(queries, tmp_path, events)

    runner._stop_all()

    assert events == [FlowEnded(name) for name in ("idle", "short", "endless", "stuck")]
    assert [name for name, query in queries.items() if query.was_torn] == ["endless", "stuck"]


class LostQuery(Query):
    """A query whose Spark does not answer any more."""

    @property
    def status(self) -> dict[str, Any]:
        raise ConnectionError("nobody answers")

    def exception(self) -> None:
        raise ConnectionError("nobody answers")


def test_flow_that_cannot_be_asked_keeps_no_other_from_being_stopped(tmp_path: Path) -> None:
    events: list[Event] = []
    runner = running({"lost": LostQuery(0), "idle": Query(0)}, tmp_path, events)

    runner._stop_all()

    failed, ended = events
    assert isinstance(failed, FlowFailed)
    assert failed.failure.flow == "lost"
    assert ended == FlowEnded("idle")
