"""Progress as records of a topic."""

from collections.abc import Callable

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.reporting.test_progress import REPORT

from penstock.client import Producer
from penstock.model.names import PIPELINES_TOPIC
from penstock.spark.pipelines.reporting.progress import progress_of
from penstock.spark.pipelines.reporting.progress_topic import ProgressTopic, read_states
from penstock.spark.pipelines.running.events import (
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)
from penstock.spark.pipelines.running.failures import FlowFailure

pytestmark = pytest.mark.slow


def nobody_warns(text: str) -> None:
    raise AssertionError(text)


def test_last_word_on_every_flow_is_in_the_topic(bootstrap: str, unique: UniqueName) -> None:
    pipeline = unique("shop")
    topic = ProgressTopic(bootstrap, pipeline, about={"pid": 7}, warn=nobody_warns)
    failure = FlowFailure(flow="b", step="1 (parse)", cause="It broke.", hint="")
    for event in (
        *(FlowStarted("a"), FlowStarted("b"), FlowProgressed(progress_of(pipeline, "a", REPORT))),
        *(RecordsLeft("a", "dlq", 2), RecordsLeft("a", "dlq", 1), FlowEnded("a"), FlowFailed(failure)),
    ):
        topic(event)
    topic.close()

    states = read_states(bootstrap)

    mine = {key: state for key, state in states.items() if key.startswith(f"{pipeline}/")}
    assert mine.keys() == {f"{pipeline}/a", f"{pipeline}/b"}
    a, b = mine[f"{pipeline}/a"], mine[f"{pipeline}/b"]
    assert (a["state"], a["pid"], a["side_records"]) == ("ended", 7, {"dlq": 3})
    assert a["progress"]["lag"] == 5
    assert (b["state"], b["failure"]["step"]) == ("failed", "1 (parse)")


def test_records_that_no_flow_wrote_are_passed_over(bootstrap: str, unique: UniqueName) -> None:
    pipeline = unique("shop")
    topic = ProgressTopic(bootstrap, pipeline, about={}, warn=nobody_warns)
    topic(FlowStarted("a"))
    topic.close()
    with Producer(bootstrap_servers=bootstrap) as producer:
        producer.send(PIPELINES_TOPIC, b"\xff not json", f"{pipeline}/broken".encode()).result(10)
        producer.send(PIPELINES_TOPIC, b"{}", b"\xff").result(10)
    assert [key for key in read_states(bootstrap) if key.startswith(f"{pipeline}/")] == [f"{pipeline}/a"]


def test_cluster_that_is_gone_is_told_once_and_stops_nothing(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.pipelines.reporting.progress_topic._REQUEST_MS", 300)
    warnings: list[str] = []
    take: Callable[[str], None] = warnings.append
    topic = ProgressTopic(f"127.0.0.1:{closed_port}", "shop", about={}, warn=take)
    topic(FlowStarted("a"))
    topic.close()

    (warning,) = warnings
    assert warning.startswith("Progress is not written to __penstock_pipelines: ")
