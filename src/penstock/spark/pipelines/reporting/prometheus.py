"""Metrics in Prometheus's text format: the last progress of every flow, and counts since the start."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from penstock.spark.pipelines.reporting.progress import FlowProgress, watermark_behind_ms
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    FlowStarted,
    RecordsLeft,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "penstock_pipeline_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A line of the table of metrics."""

    name: str
    kind: str
    doc: str


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(name="up", kind="gauge", doc="1 while the flow's query runs, 0 when it has ended or failed."),
        Metric(name="rows_total", kind="counter", doc="Rows read since the start."),
        Metric(name="batches_total", kind="counter", doc="Micro-batches done since the start."),
        Metric(name="rows_per_second", kind="gauge", doc="Rows processed a second in the last micro-batch."),
        Metric(name="input_rows_per_second", kind="gauge", doc="Rows that arrived a second before it."),
        Metric(name="batch_seconds", kind="gauge", doc="How long the last micro-batch took."),
        Metric(name="lag_records", kind="gauge", doc="Records of a partition that are not read yet."),
        Metric(
            name="watermark_behind_seconds", kind="gauge", doc="How far the watermark is behind the clock."
        ),
        Metric(name="state_rows", kind="gauge", doc="Rows that are kept in state."),
        Metric(name="state_bytes", kind="gauge", doc="Memory of the state."),
        Metric(name="late_rows_total", kind="counter", doc="Rows that came too late since the start."),
        Metric(name="side_records_total", kind="counter", doc="Records written to topics of side outputs."),
        Metric(name="failures_total", kind="counter", doc="How often the flow has failed."),
    )
}
"""Every metric by its name without ``penstock_pipeline_``; all have the labels ``pipeline`` and ``flow``."""

Sample = tuple[tuple[tuple[str, str], ...], float]


class MetricsPage:
    """What was heard so far; a listener of runs. Threads of a server read it meanwhile."""

    def __init__(self, pipeline: str) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._last: dict[str, FlowProgress] = {}
        self._up: dict[str, int] = {}
        self._totals: dict[tuple[str, str], int] = {}
        self._sides: dict[tuple[str, str], int] = {}

    def __call__(self, event: Event) -> None:
        """Take an event of a run into account."""
        with self._lock:
            self._take(event)

    def text(self, *, now_ms: int) -> str:
        """The page."""
        with self._lock:
            samples = self._samples(now_ms)
        return "".join(_lines(METRICS[name], found) for name, found in samples.items() if found)

    def _take(self, event: Event) -> None:
        match event:
            case FlowStarted(flow):
                self._up[flow] = 1
            case FlowProgressed(progress):
                self._progressed(progress)
            case RecordsLeft(flow, topic, count):
                self._sides[flow, topic] = self._sides.get((flow, topic), 0) + count
            case FlowEnded(flow):
                self._up[flow] = 0
            case FlowFailed(failure):
                self._up[failure.flow] = 0
                self._add("failures_total", failure.flow, 1)

    def _progressed(self, progress: FlowProgress) -> None:
        self._last[progress.flow] = progress
        self._add("rows_total", progress.flow, progress.rows)
        self._add("late_rows_total", progress.flow, progress.late_rows)
        self._add("batches_total", progress.flow, 0 if progress.is_idle else 1)

    def _add(self, name: str, flow: str, count: int) -> None:
        self._totals[name, flow] = self._totals.get((name, flow), 0) + count

    def _samples(self, now_ms: int) -> dict[str, list[Sample]]:
        found: dict[str, list[Sample]] = {name: [] for name in METRICS}
        for flow, is_up in self._up.items():
            found["up"].append((self._labels(flow), is_up))
        for (name, flow), total in self._totals.items():
            found[name].append((self._labels(flow), total))
        for (flow, topic), count in self._sides.items():
            found["side_records_total"].append((self._labels(flow, topic=topic), count))
        for flow, last in self._last.items():
            for name, labels, value in self._gauges(flow, last, now_ms):
                found[name].append((labels, value))
        return found

    def _gauges(
        self, flow: str, last: FlowProgress, now_ms: int
    ) -> Iterator[tuple[str, tuple[tuple[str, str], ...], float]]:
        labels = self._labels(flow)
        yield "rows_per_second", labels, last.rows_per_second
        yield "input_rows_per_second", labels, last.input_rows_per_second
        yield "batch_seconds", labels, last.duration_ms / 1000
        yield "state_rows", labels, last.state_rows
        yield "state_bytes", labels, last.state_bytes
        behind_ms = watermark_behind_ms(last, now_ms=now_ms)
        if behind_ms is not None:
            yield "watermark_behind_seconds", labels, behind_ms / 1000
        for partition, lag in last.lag_by_partition.items():
            topic, _, number = partition.rpartition("-")
            yield "lag_records", self._labels(flow, topic=topic, partition=number), lag

    def _labels(self, flow: str, **more: str) -> tuple[tuple[str, str], ...]:
        return (("pipeline", self._pipeline), ("flow", flow), *more.items())


def _lines(metric: Metric, samples: Iterable[Sample]) -> str:
    name = f"{_PREFIX}{metric.name}"
    lines = [f"# HELP {name} {metric.doc}", f"# TYPE {name} {metric.kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
        lines.append(
            f"{name}{{{inside}}} {value:g}" if value != int(value) else f"{name}{{{inside}}} {int(value)}"
        )
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
