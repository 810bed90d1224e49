"""How all flows of a run are stopped: each between two micro-batches, unless that takes too long."""

import time
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running import runner as module
from penstock.spark.pipelines.running.events import Event, FlowEnded
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


def test_flows_are_stopped_together_and_none_waits_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_PATIENCE_SECONDS", 2.0)
    queries = {"endless": Query(3600), "stuck": Query(3600), "short": Query(0.2), "idle": Query(0)}
    flows = "\n  ".join(f"{name}: {FLOW}" for name in queries)
    (tmp_path / "p.yml").write_text(FILE.replace("FLOWS", flows))
    pipeline = load_pipeline(tmp_path / "p.yml")
    events: list[Event] = []
    runner = Runner(cast("Any", None), pipeline, topic_options={}, listener=events.append)
    runner._watched = [
        WatchedFlow("p", pipeline.flows[name], query, sides=None) for name, query in queries.items()
    ]

    runner._stop_all()

    assert events == [FlowEnded(name) for name in ("idle", "short", "endless", "stuck")]
    assert [name for name, query in queries.items() if query.was_torn] == ["endless", "stuck"]
