"""What a run shows."""

import json
from dataclasses import replace

import pytest

from penstock.cli.pipeline.screen import COLUMNS, FlowLine, LineScreen, TableScreen, event_json, event_line
from penstock.spark.pipelines.reporting.progress import FlowProgress
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)
from penstock.spark.pipelines.running.failures import FlowFailure

PROGRESS = FlowProgress(
    pipeline="shop",
    flow="revenue",
    query_id="q",
    batch=12,
    timestamp="2026-01-01T00:00:00.000Z",
    rows=1_500,
    rows_per_second=2_500.4,
    input_rows_per_second=10,
    duration_ms=600,
    lag=1_200,
    lag_by_partition={"orders-0": 1_200},
    watermark="2026-01-01T00:03:22.000Z",
    state_rows=14,
    state_bytes=2_048,
    late_rows=1,
)
FAILURE = FlowFailure(flow="revenue", step="1 (parse)", cause="It broke.", hint="Mend it.")
EVENTS: tuple[Event, ...] = (
    FlowStarted("revenue"),
    FlowProgressed(PROGRESS),
    RecordsLeft("revenue", "orders.dlq", 3),
    FlowFailed(FAILURE),
    FlowEnded("revenue"),
)


def test_lines_say_what_happened() -> None:
    assert [event_line(event) for event in EVENTS] == [
        "revenue  started",
        "revenue  batch 12  1,500 rows  2,500 rows/s  0.6 s  lag 1,200  watermark 2026-01-01 00:03:22  "
        "kept 14 rows, 2.0 KiB  late 1",
        "revenue  3 records to orders.dlq",
        "revenue  failed",
        "revenue  ended",
    ]


def test_json_lines_are_documents_with_the_name_of_the_event(capsys: pytest.CaptureFixture[str]) -> None:
    with LineScreen(as_json=True) as screen:
        for event in EVENTS:
            screen(event)

    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert documents == [event_json(event) for event in EVENTS]
    assert [document["event"] for document in documents] == [
        "started",
        "progress",
        "side_records",
        "failed",
        "ended",
    ]
    assert documents[1]["lag_by_partition"] == {"orders-0": 1_200}
    assert documents[3]["hint"] == "Mend it."


def test_table_has_the_last_of_every_flow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    line = FlowLine("revenue")
    assert line.cells() == ("revenue", "waiting", *("-" for _ in COLUMNS[2:]))
    for event in EVENTS[:3]:
        line.take(event)
    assert line.cells() == (
        *("revenue", "running", "12", "1,500", "2,500", "1,200", "2026-01-01 00:03:22"),
        *("14 rows, 2.0 KiB", "1", "3"),
    )

    with TableScreen(["revenue", "other"]) as screen:
        for event in EVENTS:
            screen(event)
    shown = capsys.readouterr().out
    assert "WATERMARK" in shown
    assert "waiting" in shown


def test_lines_leave_out_that_nothing_happened() -> None:
    assert event_line(FlowProgressed(replace(PROGRESS, is_idle=True))) == ""
