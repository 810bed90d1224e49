"""Pipelines as the console shows them, from what a run writes to its topic."""

import time
from typing import Any

import pytest
from tests.conftest import UniqueName
from tests.gateway.console.asking import get

from penstock.client import Producer
from penstock.gateway.console.data.pipelines import by_pipeline
from penstock.gateway.server import GatewayServer
from penstock.model.names import PIPELINES_TOPIC
from penstock.spark.pipelines.reporting.progress import FlowProgress
from penstock.spark.pipelines.reporting.progress_topic import ProgressTopic
from penstock.spark.pipelines.running.events import FlowEnded, FlowProgressed, FlowStarted


def progress(name: str, *, lag: int) -> FlowProgress:
    return FlowProgress(
        pipeline=name,
        flow="totals",
        query_id="q",
        batch=3,
        timestamp="2026-01-01T00:00:00.000Z",
        rows=10,
        rows_per_second=250.0,
        input_rows_per_second=100.0,
        duration_ms=40,
        lag=lag,
        lag_by_partition={"orders-0": lag},
    )


def told(gateway: GatewayServer, name: str) -> dict[str, Any]:
    """The pipeline, once the board has read the topic to its end."""
    deadline = time.monotonic() + 15
    while True:
        answer = get(gateway.url, "pipelines")
        found = [each for each in answer["pipelines"] if each["pipeline"] == name]
        if found or time.monotonic() > deadline:
            return dict(found[0])


def test_what_a_run_tells_is_shown_with_rates_and_lag(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    name = unique("shop")
    topic = ProgressTopic(bootstrap, name, about={"host": "h", "pid": 7}, warn=pytest.fail)
    topic(FlowStarted("totals"))
    topic(FlowStarted("archive"))
    topic(FlowEnded("archive"))
    topic(FlowProgressed(progress(name, lag=42)))
    topic(FlowStarted("totals"))  # Beginnings are written at once, with all that is known.
    topic.close()
    one = told(gateway, name)
    assert (one["state"], one["host"], one["pid"]) == ("running", "h", 7)
    archive, totals = one["flows"]
    assert (archive["flow"], archive["state"]) == ("archive", "ended")
    assert totals["progress"]["lag"] == 42
    assert totals["points"][-1][1:] == [250.0, 100.0, 42]


def test_records_that_no_flow_wrote_are_passed_over(
    gateway: GatewayServer, bootstrap: str, unique: UniqueName
) -> None:
    name = unique("shop")
    topic = ProgressTopic(bootstrap, name, about={}, warn=pytest.fail)
    topic(FlowStarted("totals"))
    topic.close()
    with Producer(bootstrap_servers=bootstrap) as producer:
        producer.send(PIPELINES_TOPIC, b"\xff not json", f"{name}/broken".encode()).result(10)
        producer.send(PIPELINES_TOPIC, b'{"pipeline": 3}', f"{name}/strange".encode()).result(10)
    assert [flow["flow"] for flow in told(gateway, name)["flows"]] == ["totals"]


def test_a_pipeline_is_in_the_worst_state_of_its_flows() -> None:
    flows = [
        {"pipeline": "shop", "flow": flow, "state": state}
        for flow, state in (("a", "running"), ("b", "failed"), ("c", "ended"))
    ]
    (one,) = by_pipeline(flows)
    assert one["state"] == "failed"
