"""What Spark says of a pipeline without running it: every query analysed against the schemas, no data read.

Names of columns, types, functions, and whether the output mode goes with the query: all that Spark would only
say once a flow is started. Topics need not be there, nor any broker.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.spark.pipelines.model import PENSTOCK, Flow, HolderKind, Pipeline
from penstock.spark.pipelines.problems import Place, Problem
from penstock.spark.pipelines.running.datasets import Datasets, unstarted_datasets
from penstock.spark.pipelines.running.failures import StepFailed, failure_of
from penstock.spark.pipelines.running.flow_queries import configuration_of, configured, flow_rows
from penstock.spark.pipelines.running.records import records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOMEWHERE = {"kafka.bootstrap.servers": "localhost:9092"}


@dataclass(frozen=True, slots=True)
class AnalysedFlow:
    """A flow and the columns it writes, in Spark's words."""

    flow: str
    columns: str


def analyse(
    spark: "SparkSession", pipeline: Pipeline, *, topic_options: Mapping[str, str] = SOMEWHERE
) -> tuple[list[AnalysedFlow], list[Problem]]:
    """The columns of every flow, and what is wrong with those that cannot run."""
    analysed: list[AnalysedFlow] = []
    problems: list[Problem] = []
    with unstarted_datasets(spark, pipeline, topic_options=topic_options) as datasets:
        for flow in pipeline.flows.values():
            try:
                with configured(spark, configuration_of(pipeline, flow)):
                    analysed += _analysed(datasets, flow)
            except Exception as error:
                problems.append(_problem(pipeline, flow, error))
    return analysed, problems


def _analysed(datasets: Datasets, flow: Flow) -> Iterator[AnalysedFlow]:
    rows = flow_rows(datasets, flow)
    if rows is None:
        return
    sink = datasets.pipeline.sinks.get(flow.target)
    if sink is not None and sink.format == PENSTOCK:
        from penstock.spark.writing.row_schema import check_row_schema

        check_row_schema(records(rows, sink).schema, topic=sink.options.get("topic"))
    _check_streaming(datasets.spark, rows, flow)
    yield AnalysedFlow(flow.name, rows.schema.simpleString().removeprefix("struct<").removesuffix(">"))


def _check_streaming(spark: "SparkSession", rows: "DataFrame", flow: Flow) -> None:
    """Ask Spark's own judge of streaming queries, which otherwise speaks when a query is started."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "a session without Java is remote"
    judge = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    modes = jvm.org.apache.spark.sql.streaming.OutputMode
    mode = getattr(modes, flow.output_mode.value.capitalize())()
    judge.checkForStreaming(rows._jdf.queryExecution().analyzed(), mode)


def _problem(pipeline: Pipeline, flow: Flow, error: Exception) -> Problem:
    failure = failure_of(flow.name, error, steps=[use.name for use in flow.query.steps])
    return Problem(_place(pipeline, flow, error), str(failure), failure.hint)


def _place(pipeline: Pipeline, flow: Flow, error: Exception) -> Place:
    """Where the step stands that could not be built, or else the flow."""
    if not isinstance(error, StepFailed):
        return flow.query.place
    if error.holder.kind is HolderKind.SOURCE:
        value = pipeline.sources[error.holder.name].value
        return flow.query.place if value is None else value.place
    holders = pipeline.views if error.holder.kind is HolderKind.VIEW else pipeline.flows
    query = holders[error.holder.name].query
    number = error.step.partition(" ")[0]
    return query.steps[int(number) - 1].place if number.isdecimal() else query.place
