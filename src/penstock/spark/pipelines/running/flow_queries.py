"""A flow becomes a streaming query."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.spark.options.definition import Use
from penstock.spark.pipelines.graph import all_read
from penstock.spark.pipelines.model import (
    PENSTOCK,
    Flow,
    OutputMode,
    Pipeline,
    Sink,
    StepUse,
    Trigger,
    TriggerKind,
)
from penstock.spark.pipelines.option_check import options_for
from penstock.spark.pipelines.running.datasets import Datasets
from penstock.spark.pipelines.running.records import records
from penstock.spark.pipelines.running.storage import Storage
from penstock.spark.pipelines.running.topic_batches import TopicBatches
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.step import EndingContext, RunningQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_CHECKPOINT = "checkpointLocation"


def start_flow(
    datasets: Datasets, storage: Storage, flow: Flow, *, trigger: Trigger, rows: "DataFrame | None" = None
) -> RunningQuery:
    """Start the query of a flow, or what its ending does in place of one."""
    pipeline = datasets.pipeline
    with configured(datasets.spark, configuration_of(pipeline, flow)):
        made = rows if rows is not None else flow_rows(datasets, flow)
        if flow.ending is not None:
            return _start_ending(datasets, storage, flow, made, trigger=trigger)
        assert made is not None, "only endings do without rows"
        writer = _writer(datasets, storage, flow, made)
        writer = writer.queryName(query_name(pipeline, flow)).outputMode(flow.output_mode.value)
        writer = writer.option(_CHECKPOINT, storage.checkpoint(flow.name))
        return _triggered(writer, trigger).start()


def flow_rows(datasets: Datasets, flow: Flow) -> "DataFrame | None":
    """What a flow writes, before rows become records; None for endings that read for themselves."""
    query = flow.query
    if not query.sql and not query.origin and query.function is None:
        return None
    return datasets.rows_of(flow.holder, query)


def query_name(pipeline: Pipeline, flow: Flow) -> str:
    """What Spark calls the query."""
    return f"{pipeline.name}.{flow.name}"


def configuration_of(pipeline: Pipeline, flow: Flow) -> dict[str, str]:
    """Settings of Spark for one flow: what its steps cannot do without, then what the file says."""
    needed: dict[str, str] = {}
    for use in (*flow.query.steps, *_steps_of_views(pipeline, flow)):
        needed |= STEPS[use.name].configuration
    return {**needed, **pipeline.configuration, **flow.configuration}


@contextmanager
def configured(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[None]:
    """Settings that a query takes over when it starts; afterwards the session is as it was.

    Those that cannot be changed in a running session were given when it was started.
    """
    changed = {name: value for name, value in settings.items() if spark.conf.isModifiable(name)}
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, former in before.items():
            if former is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, former)


def _steps_of_views(pipeline: Pipeline, flow: Flow) -> Iterator[StepUse]:
    for name in all_read(pipeline, flow.query):
        if name in pipeline.views:
            yield from pipeline.views[name].query.steps


def _writer(datasets: Datasets, storage: Storage, flow: Flow, rows: "DataFrame") -> "DataStreamWriter":
    pipeline = datasets.pipeline
    if flow.target in pipeline.tables:
        table = pipeline.tables[flow.target]
        path = storage.table(table.name, flow.name)
        writer = rows.writeStream.format(table.format).option("path", path)
        return writer.partitionBy(*table.partition_by) if table.partition_by else writer
    sink = pipeline.sinks[flow.target]
    if sink.format == PENSTOCK:
        return _topic_writer(datasets, flow, sink, rows)
    writer = rows.writeStream.format(sink.format).options(**sink.options)
    return writer.partitionBy(*sink.partition_by) if sink.partition_by else writer


def _topic_writer(datasets: Datasets, flow: Flow, sink: Sink, rows: "DataFrame") -> "DataStreamWriter":
    """Appended rows go to the sink; others, which Spark's Python sinks do not know, batch by batch."""
    made = records(rows, sink)
    if flow.output_mode is OutputMode.APPEND:
        options = {**options_for(Use.STREAM_WRITE, datasets.topic_options), **sink.options}
        return made.writeStream.format(PENSTOCK).options(**options)
    options = {**options_for(Use.BATCH_WRITE, datasets.topic_options), **sink.options}
    return made.writeStream.foreachBatch(TopicBatches(options))


def _start_ending(
    datasets: Datasets, storage: Storage, flow: Flow, rows: "DataFrame | None", *, trigger: Trigger
) -> RunningQuery:
    assert flow.ending is not None, "not an ending"
    start = STEPS[flow.ending.name].start
    assert start is not None, f"{flow.ending.name} is no ending"
    context = EndingContext(
        step=datasets.context(flow.holder, len(flow.query.steps)),
        checkpoint=storage.checkpoint(flow.name),
        trigger=trigger,
        query_name=query_name(datasets.pipeline, flow),
    )
    return start(rows, flow.ending.options, context)


def _triggered(writer: "DataStreamWriter", trigger: Trigger) -> "DataStreamWriter":
    match trigger.kind:
        case TriggerKind.AVAILABLE_NOW:
            return writer.trigger(availableNow=True)
        case TriggerKind.ONCE:
            return writer.trigger(once=True)
        case TriggerKind.PROCESSING_TIME:
            return writer.trigger(processingTime=trigger.interval)
