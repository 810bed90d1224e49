"""Analyses on Spark tell what the plain one tells of the same files, and more."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.analysis.analysed_data import KINDS, VALUES, fill, plain_analysis

from penstock.model.errors import UsageError
from penstock.spark.analysis import analyse, from_directory
from penstock.spark.analysis.parquet_tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOP = 5


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    fill(path)
    return path


@pytest.fixture(scope="module")
def told(spark: "SparkSession", directory: Path) -> list[dict[str, Any]]:
    tables = directory.parent / "tables"
    found = analyse(from_directory(spark, str(directory)), top_max=TOP, parquet=str(tables))
    return [report.as_json(top_max=TOP) for report in found]


def test_files_give_the_same_numbers_as_without_spark(told: list[dict[str, Any]], directory: Path) -> None:
    plain = plain_analysis(directory, top_max=TOP)
    assert [each["topic"] for each in told] == ["orders", "payments"]
    for mine, theirs in zip(told, plain, strict=True):
        of_partitions = zip(mine["partitions"], theirs["partitions"], strict=True)
        for each, other in of_partitions:
            assert each == other
        assert {name: mine[name] for name in theirs} == theirs


def test_kinds_and_types_are_guessed(told: list[dict[str, Any]]) -> None:
    orders = told[0]
    kinds = {each["kind"]: each["messages"] for each in orders["kinds"]}
    numbers = [number % len(VALUES) for number in (*range(300), *range(10))]
    expected = Counter(KINDS[number] for number in numbers)
    assert kinds == expected
    types = {(each["kind"], each["type"], each["messages"]) for each in orders["types"]}
    assert types == {
        ("json", "created", numbers.count(0)),
        ("json", "paid", numbers.count(1)),
        ("registry", "schema 7", numbers.count(4)),
    }
    assert 0 < orders["protobuf"]["sampled"] == orders["protobuf"]["matching"] <= expected["binary"]
    assert [(each["type"], each["messages"]) for each in told[1]["types"]] == [("long", 20)]


def test_what_compaction_would_remove_is_what_a_loop_finds(
    told: list[dict[str, Any]], directory: Path
) -> None:
    from penstock.analysis.record_columns import read_columns
    from penstock.records.batch import split_batches

    removable = removable_bytes = 0
    for number in (0, 1):
        seen: dict[bytes, int] = {}
        for path in sorted((directory / f"orders-{number}").glob("*.log")):
            data = path.read_bytes()
            for position, header in split_batches(data):
                if header.is_control:
                    continue
                columns = read_columns(data, header, position)
                for key, size in zip(columns.keys, columns.sizes, strict=True):
                    if key is not None:
                        removable += key in seen
                        removable_bytes += seen.get(key, 0)
                        seen[key] = size
    compaction = told[0]["compaction"]
    assert (compaction["removable_messages"], compaction["removable_bytes"]) == (removable, removable_bytes)
    assert compaction["last_tombstones"] > 0


def test_the_heat_map_has_every_hour(told: list[dict[str, Any]]) -> None:
    days = told[0]["heat_map"]["days"]
    assert [day["day"] for day in days] == ["2026-01-28", "2026-01-29", "2026-01-30"]
    assert sum(sum(day["messages_by_hour"]) for day in days) == told[0]["messages"]
    assert all(len(day["messages_by_hour"]) == 24 for day in days)
    assert told[1]["heat_map"]["days"] == []


def test_aggregates_are_written_as_parquet_once(
    spark: "SparkSession", told: list[dict[str, Any]], directory: Path
) -> None:
    tables = directory.parent / "tables"
    assert {path.name for path in tables.iterdir()} == set(TABLES)
    keys = spark.read.parquet(str(tables / "keys")).where("topic = 'orders'")
    assert keys.selectExpr("sum(messages)").collect()[0][0] == told[0]["keys"]["keyed_messages"]
    with pytest.raises(UsageError, match="already: name another directory"):
        analyse(from_directory(spark, str(directory), ["payments"]), parquet=str(tables))


def test_a_topic_that_is_not_there_is_a_mistake(spark: "SparkSession", directory: Path) -> None:
    with pytest.raises(UsageError, match="There is no topic 'nothing'"):
        from_directory(spark, str(directory), ["nothing"])
