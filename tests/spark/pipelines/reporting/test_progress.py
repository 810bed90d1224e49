"""Spark's reports in our words, and as metrics."""

import shutil
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from penstock.model.errors import OperatingError
from penstock.spark.pipelines.reporting import metrics_server
from penstock.spark.pipelines.reporting.metrics_server import (
    LOOPBACK,
    MetricsFile,
    serving_metrics,
    write_metrics,
)
from penstock.spark.pipelines.reporting.progress import progress_of, watermark_behind_ms
from penstock.spark.pipelines.reporting.prometheus import METRICS, MetricsPage
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)
from penstock.spark.pipelines.running.failures import FlowFailure

REPORT: dict[str, Any] = {
    "id": "5d9",
    "batchId": 4,
    "timestamp": "2026-01-01T00:10:00.000Z",
    "numInputRows": 3,
    "inputRowsPerSecond": float("nan"),
    "processedRowsPerSecond": 3.8,
    "durationMs": {"addBatch": 700, "triggerExecution": 800},
    "eventTime": {"max": "2026-01-01T00:05:01.000Z", "watermark": "2026-01-01T00:05:00.000Z"},
    "stateOperators": [
        {"numRowsTotal": 2, "memoryUsedBytes": 1000, "numRowsDroppedByWatermark": 1},
        {"numRowsTotal": 1},
    ],
    "observedMetrics": {"side_source_orders_0": {"count": 5}, "other": {"x": 1}},
    "sources": [
        {
            "endOffset": {"t": {"0": 6, "1": 4}, "@id t yNA0ib": {}},
            "latestOffset": {"t": {"0": 6, "1": 9}, "@id t yNA0ib": {}},
        },
        {"endOffset": 7, "latestOffset": None},
    ],
    "sink": {"numOutputRows": -1},
}


def test_progress_has_lag_state_and_what_left_sideways() -> None:
    progress = progress_of("shop", "revenue", REPORT)

    assert (progress.batch, progress.rows, progress.duration_ms) == (4, 3, 800)
    assert (progress.rows_per_second, progress.input_rows_per_second) == (3.8, 0.0)
    assert (progress.lag, progress.lag_by_partition) == (5, {"t-0": 0, "t-1": 5})
    assert (progress.state_rows, progress.state_bytes, progress.late_rows) == (3, 1000, 1)
    assert progress.aside == {"side_source_orders_0": 5}
    assert progress.output_rows is None
    assert not progress.is_idle
    assert watermark_behind_ms(progress, now_ms=1_767_225_960_000) == 60_000


def test_progress_of_nothing_is_idle_and_knows_no_lag() -> None:
    progress = progress_of(
        "shop", "f", {"batchId": 5, "timestamp": "t", "durationMs": {"latestOffset": 1}, "eventTime": {}}
    )

    assert progress.is_idle
    assert progress.lag is None
    assert progress.watermark is None


def test_progress_through_spark_connect_is_summed_up_from_the_sources() -> None:
    source = {
        "numInputRows": 4,
        "processedRowsPerSecond": 8.0,
        "endOffset": '{"t":{"0":3}}',
        "latestOffset": '{"t":{"0":5}}',
    }
    report = {
        "batchId": 0,
        "timestamp": "t",
        "durationMs": {"addBatch": 1},
        "sources": [source, {"endOffset": "-"}],
    }

    progress = progress_of("shop", "f", report)

    assert (progress.rows, progress.rows_per_second, progress.lag) == (4, 8.0, 2)


def test_watermark_that_nothing_has_moved_is_none() -> None:
    report = {**REPORT, "eventTime": {"watermark": "1970-01-01T00:00:00.000Z"}}

    assert progress_of("shop", "f", report).watermark is None


@pytest.fixture
def page() -> MetricsPage:
    page = MetricsPage('sh"op')
    failure = FlowFailure(flow="other", step="", cause="", hint="")
    progressed = FlowProgressed(progress_of("shop", "revenue", REPORT))
    events: tuple[Event, ...] = (
        *(FlowStarted("revenue"), FlowStarted("other"), progressed, progressed),
        *(RecordsLeft("revenue", "dlq", 2), FlowFailed(failure), FlowEnded("revenue")),
    )
    for event in events:
        page(event)
    return page


def test_metrics_have_every_line_of_the_table(page: MetricsPage) -> None:
    text = page.text(now_ms=1_767_225_960_000)

    for name, metric in METRICS.items():
        assert f"# TYPE penstock_pipeline_{name} {metric.kind}\n" in text
    labels = 'pipeline="sh\\"op",flow="revenue"'
    assert f"penstock_pipeline_rows_total{{{labels}}} 6\n" in text
    assert f"penstock_pipeline_batch_seconds{{{labels}}} 0.8\n" in text
    assert f'penstock_pipeline_lag_records{{{labels},topic="t",partition="1"}} 5\n' in text
    assert f'penstock_pipeline_side_records_total{{{labels},topic="dlq"}} 2\n' in text
    assert f"penstock_pipeline_watermark_behind_seconds{{{labels}}} 60\n" in text
    assert f"penstock_pipeline_up{{{labels}}} 0\n" in text


def test_metrics_are_served_and_written(page: MetricsPage, tmp_path: Path) -> None:
    with serving_metrics(page, host=LOOPBACK, port=0) as port:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=10) as answer:
            served = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(f"http://{LOOPBACK}:{port}/other", timeout=10)
        refused.value.close()
    write_metrics(page, tmp_path / "metrics.prom")

    assert "penstock_pipeline_rows_total" in served
    assert "penstock_pipeline_rows_total" in (tmp_path / "metrics.prom").read_text()


class ObservedPage(MetricsPage):
    """Hears of a new topic, in another thread, while it is being read."""

    def _labels(self, flow: str, **more: str) -> tuple[tuple[str, str], ...]:
        if "topic" in more:
            event = RecordsLeft(flow, f"{more['topic']}.dlq", 1)
            teller = threading.Thread(target=self, args=(event,), daemon=True)
            teller.start()
            teller.join(0.05)
        return super()._labels(flow, **more)


def test_metrics_can_be_read_while_something_happens() -> None:
    page = ObservedPage("shop")
    page(RecordsLeft("revenue", "t", 1))

    assert 'topic="t"} 1\n' in page.text(now_ms=0)


def test_metrics_file_that_cannot_be_written_is_told_before_the_run(
    page: MetricsPage, tmp_path: Path
) -> None:
    with pytest.raises(OperatingError, match=r"Metrics cannot be written to .*: No such file or directory\."):
        MetricsFile(page, tmp_path / "nowhere" / "metrics.prom", warn=pytest.fail)


def test_metrics_file_that_cannot_be_written_any_more_is_told_once_and_stops_nothing(
    page: MetricsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_server, "FILE_SECONDS", 0.0)
    directory, told = tmp_path / "here", list[str]()
    directory.mkdir()
    file = MetricsFile(page, directory / "metrics.prom", warn=told.append)
    assert (directory / "metrics.prom").exists()

    shutil.rmtree(directory)
    file(FlowStarted("late"))
    file.write()

    assert len(told) == 1
    directory.mkdir()
    file(FlowEnded("late"))
    assert "penstock_pipeline_up" in (directory / "metrics.prom").read_text()
