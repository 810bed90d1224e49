"""Columns of topics that no flow looks at are not sent to Spark."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Trigger, TriggerKind
from penstock.spark.pipelines.running.events import Event, FlowStarted
from penstock.spark.pipelines.running.pruning import narrowed_sources
from penstock.spark.pipelines.running.runner import Runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOMEWHERE = {"kafka.bootstrap.servers": "localhost:9092"}
COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")

HEAD = """
name: clicks
storage: state
sources:
  clicks: {options: {subscribe: CLICKS, startingOffsets: earliest}}
"""
TO_TOPIC = "{options: {topic: CLICKS.out}}"


def flows(*queries: str, sink: str = TO_TOPIC) -> str:
    """A pipeline with a flow for each query."""
    lines = [f"  flow{number}: {{sql: {query!r}, sink: {sink}}}" for number, query in enumerate(queries)]
    return "\n".join([HEAD, "flows:", *lines])


def needed(spark: "SparkSession", tmp_path: Path, text: str) -> tuple[str, ...]:
    """The columns of the topic ``clicks`` that are read."""
    file = tmp_path / "pipeline.yml"
    file.write_text(text)
    pipeline = load_pipeline(file)
    found = narrowed_sources(spark, pipeline, list(pipeline.flows.values()), topic_options=SOMEWHERE)
    assert all(narrowed.visible == COLUMNS for narrowed in found.values())
    return found["clicks"].needed if found else COLUMNS


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT value FROM clicks", {"value"}),
        ("SELECT count(*) AS n, window(timestamp, '1 minute') AS w FROM clicks GROUP BY 2", {"timestamp"}),
        ("SELECT value FROM clicks WHERE partition = 1", {"value", "partition"}),
        ("SELECT value FROM (SELECT *, length(key) AS size FROM clicks)", {"value"}),
        ("SELECT count(offset) AS n FROM clicks", {"offset"}),
        ("SELECT count(*) AS n FROM clicks", {"partition"}),
        ("SELECT a.value FROM clicks a JOIN clicks b ON a.key = b.key", {"key", "value"}),
        ("SELECT value FROM clicks UNION ALL SELECT key FROM clicks", {"key", "value"}),
        ("SELECT DISTINCT topic AS value FROM clicks", {"topic"}),
    ],
)
def test_what_sql_looks_at_is_read_and_nothing_else(
    spark: "SparkSession", tmp_path: Path, query: str, columns: set[str]
) -> None:
    assert set(needed(spark, tmp_path, flows(query))) == columns


@pytest.mark.parametrize(
    "query", ["SELECT * FROM clicks", "SELECT * FROM clicks UNION ALL SELECT * FROM clicks"]
)
def test_everything_is_read_where_all_of_it_is_written(
    spark: "SparkSession", tmp_path: Path, query: str
) -> None:
    assert needed(spark, tmp_path, flows(query, sink="{format: parquet, path: out}")) == COLUMNS


def test_source_of_several_flows_has_what_each_of_them_needs(spark: "SparkSession", tmp_path: Path) -> None:
    text = flows("SELECT value FROM clicks", "SELECT key AS value FROM clicks WHERE offset > 5")
    assert needed(spark, tmp_path, text) == ("key", "value", "offset")


def test_what_a_sink_writes_is_read(spark: "SparkSession", tmp_path: Path) -> None:
    text = flows("SELECT * FROM clicks", sink="{options: {topic: out}, key: topic}")
    assert needed(spark, tmp_path, text) == ("value", "topic", "timestamp")


def test_columns_that_a_file_chooses_stay_as_they_are(spark: "SparkSession", tmp_path: Path) -> None:
    chosen = flows("SELECT value FROM clicks").replace("{options:", "{columns: [key, value], options:", 1)
    assert needed(spark, tmp_path, chosen) == COLUMNS


def test_flow_that_cannot_be_built_leaves_everything_as_it_is(spark: "SparkSession", tmp_path: Path) -> None:
    assert (
        needed(spark, tmp_path, flows("SELECT value FROM clicks", "SELECT nonsense FROM clicks")) == COLUMNS
    )


@pytest.mark.parametrize(
    "sink",
    [
        "{options: {topic: out}, key: '*'}",
        "{options: {topic: out}, value: {format: registry, options: {url: 'http://127.0.0.1:9'}}}",
    ],
    ids=["key", "registry"],
)
def test_sink_that_cannot_be_written_leaves_everything_as_it_is(
    spark: "SparkSession", tmp_path: Path, sink: str
) -> None:
    assert needed(spark, tmp_path, flows("SELECT value, key AS a FROM clicks", sink=sink)) == COLUMNS


def test_flow_reads_only_these_columns_and_gives_the_same_as_with_all(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, clicks = Topics(bootstrap), unique("clicks")
    topics.create(clicks, f"{clicks}.out")
    topics.put_keyed(clicks, [(f"k{number % 3}", f"v{number}") for number in range(10)])
    query = "SELECT key, value FROM (SELECT *, offset % 2 AS odd FROM clicks) WHERE odd = 1"
    file = tmp_path / "pipeline.yml"
    file.write_text(flows(query).replace("CLICKS", clicks))
    plan = plan_of_run(spark, file, bootstrap)
    scan = next(line for line in plan.splitlines() if "MicroBatchScan" in line)
    columns = re.findall(r"(\w+)#\d+", scan)
    assert columns == ["key", "value", "offset"]
    found = [(record.key, record.value) for record in topics.read(f"{clicks}.out")]
    assert found == [(f"k{number % 3}", f"v{number}") for number in range(1, 10, 2)]


def plan_of_run(spark: "SparkSession", file: Path, bootstrap: str) -> str:
    """Run the one flow of a pipeline over what there is; how Spark did it."""
    queries: list[Any] = []

    def listen(event: Event) -> None:
        if isinstance(event, FlowStarted):
            queries.extend(spark.streams.active)

    pipeline, trigger = load_pipeline(file), Trigger(TriggerKind.AVAILABLE_NOW)
    options = {"kafka.bootstrap.servers": bootstrap}
    outcome = Runner(spark, pipeline, topic_options=options, listener=listen, trigger=trigger).run()
    assert not outcome.failures
    plan: str = queries[0]._jsq.explainInternal(False)
    return plan
