"""The progress of a flow in numbers that mean something: rates, lag, watermark, state, what left sideways."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from penstock.spark.pipelines.running.checkpoints import Offsets, plain_offsets
from penstock.spark.pipelines.running.side_outputs import BatchSigns
from penstock.spark.pipelines.steps.observing import COUNT

_NO_WATERMARK = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowProgress:
    """One micro-batch of one flow."""

    pipeline: str
    flow: str
    query_id: str
    batch: int
    timestamp: str
    """When it began, in ISO 8601."""
    rows: int
    rows_per_second: float
    """Processed, while there was something to process."""
    input_rows_per_second: float
    """Arrived, since the micro-batch before."""
    duration_ms: int
    lag: int | None
    """Records behind the end of the topics; None for sources that do not tell."""
    lag_by_partition: Mapping[str, int] = field(default_factory=dict)
    watermark: str | None = None
    state_rows: int = 0
    state_bytes: int = 0
    late_rows: int = 0
    """Dropped by Spark, because their window was closed; after partial sums, so rows or more."""
    aside: Mapping[str, int] = field(default_factory=dict)
    """Counted by steps that rows can leave sideways at, by the names of their metrics."""
    output_rows: int | None = None
    is_idle: bool = False
    """Nothing was done: Spark only says that it is still there."""

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @property
    def signs(self) -> BatchSigns:
        """What side outputs need to know."""
        return BatchSigns(counts=self.aside, late_rows=self.late_rows)


def progress_of(pipeline: str, flow: str, report: Mapping[str, Any]) -> FlowProgress:
    """Spark's report of a micro-batch, as its JSON has it, in our words."""
    lag = _lags(report.get("sources") or ())
    operators = report.get("stateOperators") or ()
    watermark = (report.get("eventTime") or {}).get("watermark")
    return FlowProgress(
        pipeline=pipeline,
        flow=flow,
        query_id=str(report.get("id", "")),
        batch=int(report["batchId"]),
        timestamp=str(report["timestamp"]),
        rows=int(_of_sources(report, "numInputRows")),
        rows_per_second=_of_sources(report, "processedRowsPerSecond"),
        input_rows_per_second=_of_sources(report, "inputRowsPerSecond"),
        duration_ms=int(
            (report.get("durationMs") or {}).get("triggerExecution", report.get("batchDuration") or 0)
        ),
        lag=None if lag is None else sum(lag.values()),
        lag_by_partition=lag or {},
        watermark=None if watermark in (None, _NO_WATERMARK) else str(watermark),
        state_rows=sum(int(each.get("numRowsTotal") or 0) for each in operators),
        state_bytes=sum(int(each.get("memoryUsedBytes") or 0) for each in operators),
        late_rows=sum(int(each.get("numRowsDroppedByWatermark") or 0) for each in operators),
        aside=_asides(report.get("observedMetrics") or {}),
        output_rows=_output_rows(report.get("sink") or {}),
        is_idle="addBatch" not in (report.get("durationMs") or {}),
    )


def watermark_behind_ms(progress: FlowProgress, *, now_ms: int) -> int | None:
    """How far the watermark is behind the clock; None if there is none."""
    if progress.watermark is None:
        return None
    return now_ms - round(datetime.fromisoformat(progress.watermark).timestamp() * 1000)


def _of_sources(report: Mapping[str, Any], name: str) -> float:
    """A number of the whole; Spark Connect reports it for each source only."""
    total = report.get(name)
    if total is not None:
        return _number(total)
    return sum(_number(source.get(name)) for source in report.get("sources") or ())


def _lags(sources: Any) -> dict[str, int] | None:
    """Records between where the micro-batch ended and the end of each partition."""
    lags: dict[str, int] = {}
    is_known = False
    for source in sources:
        end, latest = (_document_offsets(source.get(name)) for name in ("endOffset", "latestOffset"))
        for topic, numbers in latest.items():
            for number, offset in numbers.items():
                is_known = True
                lags[f"{topic}-{number}"] = max(0, offset - end.get(topic, {}).get(number, offset))
    return lags if is_known else None


def _document_offsets(value: Any) -> Offsets:
    """Offsets are JSON, or text of JSON through Spark Connect; other sources have other things."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return {}
    return plain_offsets(value)


def _asides(metrics: Mapping[str, Any]) -> dict[str, int]:
    return {
        name: int(values[COUNT])
        for name, values in metrics.items()
        if isinstance(values, Mapping) and values.get(COUNT) is not None
    }


def _output_rows(sink: Mapping[str, Any]) -> int | None:
    count = sink.get("numOutputRows")
    return None if count is None or int(count) < 0 else int(count)


def _number(value: Any) -> float:
    """Spark divides by a time of zero now and then."""
    number = float(value or 0)
    return number if number == number and abs(number) != float("inf") else 0.0
