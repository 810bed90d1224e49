"""Compacted topics as tables, what is refreshed when, and values of a schema registry."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

from penstock.spark.pipelines.model import ReadMode, Source
from penstock.spark.pipelines.problems import Place
from penstock.spark.pipelines.running.refreshing import Refreshing
from penstock.spark.pipelines.running.sources import latest_by_key, read_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def test_latest_by_key_goes_by_offset_within_a_partition_and_by_time_between_them(
    spark: "SparkSession",
) -> None:
    def record(
        key: str | None, value: str | None, partition: int, offset: int, second: int
    ) -> tuple[object, ...]:
        time = datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
        return (None if key is None else key.encode(), value, partition, offset, time)

    records = spark.createDataFrame(
        [
            record("a", "late time, lower offset", 0, 1, 50),
            record("a", "latest", 0, 2, 10),
            record("b", "before more partitions", 0, 9, 10),
            record("b", "after more partitions", 1, 0, 20),
            record("c", "deleted", 0, 3, 10),
            record("c", None, 0, 4, 10),
            record("d", None, 0, 5, 10),
            record("d", "back again", 0, 6, 10),
            record(None, "no key", 0, 7, 10),
        ],
        "key binary, value string, partition int, offset bigint, timestamp timestamp",
    )

    latest = {bytes(row.key).decode(): row.value for row in latest_by_key(records).collect()}

    assert latest == {"a": "latest", "b": "after more partitions", "d": "back again"}
    assert latest_by_key(records).columns == records.columns


def test_rows_are_kept_as_long_as_refresh_says(
    spark: "SparkSession", bootstrap: str, unique: UniqueName
) -> None:
    topics, name = Topics(bootstrap), unique("users")
    topics.create(name, config={"cleanup.policy": "compact"})
    topics.put_keyed(name, [("a", "1")])
    source = Source(name="users", options={"subscribe": name}, read=ReadMode.TABLE, place=Place("p.yml"))
    refreshing = Refreshing(now_ms=0)
    kept = {
        refresh: refreshing.refreshed(
            read_source(spark, source, {"kafka.bootstrap.servers": bootstrap}), refresh
        )
        for refresh in ("batch", "start", "1 minute")
    }
    assert [rows.count() for rows in kept.values()] == [1, 1, 1]

    topics.put_keyed(name, [("b", "2")])
    refreshing.empty_due(59_000)
    assert [rows.count() for rows in kept.values()] == [2, 1, 1]
    refreshing.empty_due(60_000)
    assert [rows.count() for rows in kept.values()] == [2, 1, 2]
    refreshing.close()


def test_table_is_read_anew_in_every_micro_batch(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, checkpoint: str
) -> None:
    topics, users, clicks = Topics(bootstrap), unique("users"), unique("clicks")
    topics.create(users, clicks)
    options = {"kafka.bootstrap.servers": bootstrap, "startingOffsets": "earliest"}
    place = Place("p.yml")
    table = Source(name="users", options={"subscribe": users}, read=ReadMode.TABLE, place=place)
    stream = Source(name="clicks", options={"subscribe": clicks}, place=place)
    seen: list[list[str]] = []

    def look(rows: "DataFrame", batch: int) -> None:
        seen.append([bytes(row.value).decode() for row in rows.collect()])

    looked_up = read_source(spark, table, options).select("key", "value")
    joined = read_source(spark, stream, options).select("key").join(looked_up, "key")
    query = joined.writeStream.foreachBatch(look).option("checkpointLocation", checkpoint).start()
    try:
        for name in ("first", "second"):
            topics.put_keyed(users, [("ann", name)])
            topics.put_keyed(clicks, [("ann", "click")])
            query.processAllAvailable()
    finally:
        query.stop()

    assert seen == [["first"], ["second"]]


REGISTRY = """
name: registry
storage: state
sources:
  lines:
    options: {subscribe: T.lines, startingOffsets: earliest}
    value: {schema: "name string, age int"}
  people:
    options: {subscribe: T.people, startingOffsets: earliest}
    value: {format: registry, options: {schemas: schemas, subject: people-value}, deadLetterTopic: T.dlq}
flows:
  write:
    from: lines
    sink:
      options: {topic: T.people}
      value: {format: registry, options: {schemas: SCHEMAS, subject: people-value}}
  read:
    from: people
    steps: [filter: age > 1]
    sink: {options: {topic: T.out}}
"""


def test_values_of_a_registry_are_written_and_read(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("registry")
    topics.create(*(f"{prefix}.{name}" for name in ("lines", "people", "dlq", "out")))
    fields = [{"name": "name", "type": ["null", "string"]}, {"name": "age", "type": ["null", "int"]}]
    schema = {"type": "record", "name": "Person", "fields": fields}
    (tmp_path / "schemas").mkdir()
    answer = {"schema": json.dumps(schema), "subject": "people-value", "version": 1}
    (tmp_path / "schemas" / "7.json").write_text(json.dumps(answer))
    file = tmp_path / "p.yml"
    file.write_text(REGISTRY.replace("T.", f"{prefix}.").replace("SCHEMAS", str(tmp_path / "schemas")))
    topics.put(f"{prefix}.lines", [{"name": "ann", "age": 1}, {"name": "bob", "age": 2}])
    topics.put(f"{prefix}.people", [b"\x00\x00\x00\x00\x09no such schema"])

    for _ in range(2):
        run_pipeline(spark, file, bootstrap)

    assert [record.json() for record in topics.read(f"{prefix}.out")] == [{"name": "bob", "age": 2}]
    (dead,) = topics.read(f"{prefix}.dlq")
    assert dead.headers["__dlq.offset"] == "0"
    assert dead.headers["__dlq.error"]
