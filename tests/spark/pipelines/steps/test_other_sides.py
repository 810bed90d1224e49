"""Rows brought together with those of another side, in all ways of ``join`` and ``enrich``; over batches."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.pipelines.steps.test_sides import context, options_of

from penstock.spark.pipelines.steps import STEPS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Table = list[tuple[object, ...]]


@pytest.fixture(autouse=True)
def users(spark: "SparkSession") -> Iterator[None]:
    rows: Table = [("ann", "NO", 30), ("bob", "SE", 40), ("eve", "DE", 50)]
    spark.createDataFrame(rows, "user string, country string, n int").createOrReplaceTempView("users")
    yield
    spark.catalog.dropTempView("users")


def orders(spark: "SparkSession") -> "DataFrame":
    rows: Table = [(1, "ann", 10), (2, "bob", 45), (3, "nil", 7)]
    return spark.createDataFrame(rows, "id int, user string, n int")


def built(spark: "SparkSession", step: str, **options: Any) -> tuple[list[str], Table]:
    """The columns and rows that a step makes of the orders."""
    build = STEPS[step].build
    assert build is not None
    rows = build(orders(spark), options_of(step, **options), context(spark))
    return rows.columns, sorted((tuple(row) for row in rows.collect()), key=str)


ANN, BOB = (1, "ann", 10, "NO"), (2, "bob", 45, "SE")
NIL, EVE = (3, "nil", 7, None), (None, "eve", None, "DE")


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", [ANN, BOB]),
        ("left", [ANN, BOB, NIL]),
        ("right", [ANN, BOB, EVE]),
        ("full", [ANN, BOB, NIL, EVE]),
        ("left_semi", [ANN[:3], BOB[:3]]),
        ("left_anti", [NIL[:3]]),
    ],
)
def test_join_keeps_the_rows_that_it_is_asked_for(spark: "SparkSession", how: str, rows: Table) -> None:
    columns, found = built(spark, "join", **{"with": "users", "on": "user", "how": how})

    assert columns == ["id", "user", "n", "country"][: len(rows[0])]
    assert found == sorted(rows, key=str)


def test_join_by_a_condition_gives_columns_of_the_other_side_names_of_their_own(
    spark: "SparkSession",
) -> None:
    where = "left.user = right.user AND left.n > right.n"

    columns, found = built(spark, "join", **{"with": "users", "where": where, "prefix": "of_"})

    assert columns == ["id", "user", "n", "of_user", "of_country", "of_n"]
    assert found == [(2, "bob", 45, "bob", "SE", 40)]


def test_enrich_adds_what_a_query_finds_and_drops_rows_that_it_does_not(spark: "SparkSession") -> None:
    query = "SELECT user, country, n AS age FROM users"

    columns, found = built(spark, "enrich", sql=query, on="user", columns=["age"], how="inner")

    assert sorted(columns) == ["age", "id", "n", "user"]
    assert [dict(zip(columns, row, strict=True)) for row in found] == [
        {"id": 1, "user": "ann", "n": 10, "age": 30},
        {"id": 2, "user": "bob", "n": 45, "age": 40},
    ]


def test_enrich_reads_files_as_they_are_described_and_repeats_rows(
    spark: "SparkSession", tmp_path: Path
) -> None:
    (tmp_path / "users.csv").write_text("ann;1\nann;2\n")

    columns, found = built(
        spark,
        "enrich",
        path=str(tmp_path / "users.csv"),
        options={"delimiter": ";"},
        schema="user string, place int",
        on="user",
    )

    at_ann = [row for row in found if "ann" in row]
    assert [row[columns.index("place")] for row in at_ann] == [1, 2]
    assert [row[columns.index("place")] for row in found if row not in at_ann] == [None, None]
