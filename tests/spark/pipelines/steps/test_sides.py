"""What leaves at a step, and why: over batches, which is what steps see when records are looked at again."""

from typing import TYPE_CHECKING, Any

import pytest

from penstock.spark.pipelines.document import Document, node_of
from penstock.spark.pipelines.model import Holder, HolderKind
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.steps import read_use
from penstock.spark.pipelines.running.refreshing import Refreshing
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.side_records import with_record
from penstock.spark.pipelines.steps.step import RECORD_COLUMN, SideContext, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCHEMA = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)


def records(spark: "SparkSession", values: list[str | None]) -> "DataFrame":
    rows = [
        ("t", 0, offset, None, None, None if value is None else value.encode(), None)
        for offset, value in enumerate(values)
    ]
    return with_record(spark.createDataFrame(rows, SCHEMA))


def context(spark: "SparkSession") -> StepContext:
    return StepContext(
        spark=spark,
        pipeline="p",
        holder=Holder(HolderKind.FLOW, "f"),
        position=0,
        dataset=spark.table,
        topic_options={},
        refreshing=Refreshing(now_ms=0),
        directory=".",
        carried=(RECORD_COLUMN,),
    )


def options_of(name: str, **options: Any) -> Any:
    reading = Reading(Document("p.yml"))
    use = read_use(STEPS[name], node_of(options), reading)
    assert use is not None
    assert not len(reading.problems)
    return use.options


def reasons(spark: "SparkSession", rows: "DataFrame", options: Any) -> dict[str, str]:
    """Why each record left, by its offset."""
    side = STEPS["parse"].side
    assert side is not None
    left = side(rows, options, SideContext(step=context(spark), late_watermark_ms=0)).collect()
    headers = [{each.key: bytes(each.value).decode() for each in row.headers} for row in left]
    return {each["__dlq.offset"]: each["__dlq.error"] for each in headers}


def test_parse_says_why_a_value_is_not_as_it_should_be(spark: "SparkSession") -> None:
    json = records(
        spark, ['{"a": 1, "b": "x"}', "{", '{"a": "x", "b": "y"}', "[1]", None, '{"a": 1.5, "b": {"c": 1}}']
    )
    assert reasons(spark, json, options_of("parse", schema="a int, b string", deadLetterTopic="d")) == {
        "1": "the value is no JSON",
        "2": "does not fit the schema: a",
        "3": "the value is no JSON object of the schema",
        "5": "does not fit the schema: a",
    }
    csv = records(spark, ["1,x", "x,1", "1"])
    assert reasons(
        spark, csv, options_of("parse", format="csv", schema="a int, b string", deadLetterTopic="d")
    ) == {
        "1": "the value is no CSV line of 2 columns of the schema's types",
        "2": "the value is no CSV line of 2 columns of the schema's types",
    }
    log = records(spark, ["1 x", "x x", "nothing"])
    pattern = options_of(
        "parse", format="regex", pattern=r"(?P<n>\w+) (\w+)", schema="n int", deadLetterTopic="d"
    )
    assert set(reasons(spark, log, pattern)) == {"1", "2"}


@pytest.mark.parametrize(
    ("options", "bad"),
    [
        ({"schema": "a int, b string"}, {"0", "1"}),
        ({"schema": "a int, b string", "format": "csv"}, {"0", "1"}),
        ({"schema": "a string", "format": "csv"}, set()),
    ],
)
def test_parse_takes_no_empty_value_for_a_row_of_nulls(
    spark: "SparkSession", options: dict[str, str], bad: set[str]
) -> None:
    rows = records(spark, ["", "  ", None])
    parse = options_of("parse", deadLetterTopic="d", keep=["offset"], **options)
    build = STEPS["parse"].build
    assert build is not None

    assert reasons(spark, rows, parse).keys() == bad
    going_on = {str(row.offset) for row in build(rows, parse, context(spark)).collect()}
    assert going_on == {"0", "1", "2"} - bad, "each record goes one way, and one without a value its own"


def test_parse_keeps_what_is_asked_for_and_carries_the_record(spark: "SparkSession") -> None:
    build = STEPS["parse"].build
    assert build is not None
    rows = records(spark, ['{"offset": "mine", "a": 1}', "{"])

    parsed = build(
        rows, options_of("parse", schema="offset string, a int", keep=["offset", "topic"]), context(spark)
    )

    assert parsed.columns == ["offset", "a", "topic", RECORD_COLUMN]
    assert [(row.offset, row.a, row.topic) for row in parsed.collect()] == [
        ("mine", 1, "t"),
        (None, None, "t"),
    ]


@pytest.mark.parametrize(
    ("window", "late"),
    [
        ({"size": "1 minute"}, {("10", "00:00:00"), ("130", "00:02:00")}),
        (
            {"size": "2 minutes", "slide": "1 minute"},
            {("10", "23:59:00"), ("10", "00:00:00"), ("130", "00:01:00")},
        ),
        ({"gap": "1 minute"}, {("10", "00:00:10"), ("130", "00:02:10")}),
    ],
)
def test_window_gives_a_record_for_each_window_that_was_closed(
    spark: "SparkSession", window: dict[str, str], late: set[tuple[str, str]]
) -> None:
    side = STEPS["window"].side
    assert side is not None
    rows = records(spark, ["10", "130", "200"])
    second = "CAST(CAST(value AS string) AS int)"
    timed = rows.selectExpr(
        "*", f"timestamp '2026-01-01 00:00:00' + make_dt_interval(0, 0, 0, {second}) AS ts"
    )
    options = options_of("window", time="ts", aggregate={"n": "count(*)"}, lateTopic="l", **window)
    watermark_ms = spark.sql("SELECT unix_millis(timestamp '2026-01-01 00:03:10') AS ms").collect()[0].ms

    left = side(timed, options, SideContext(step=context(spark), late_watermark_ms=watermark_ms)).collect()

    headers = [{each.key: bytes(each.value).decode() for each in row.headers} for row in left]
    starts = {each["__late.window.start"][11:] for each in headers}
    found = {
        (bytes(row.value).decode(), each["__late.window.start"][11:])
        for row, each in zip(left, headers, strict=True)
    }
    assert found == late
    assert starts == {start for _, start in late}
