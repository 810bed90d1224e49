"""``search``: all records of a topic, and of its archive, that an expression or a text is true of.

Complete: a time to begin at becomes an offset of each partition, since no later record lies before it; a time
to end at is compared with every record from there on, since timestamps need not rise with offsets. Who knows
that they do may say so (``times_rise``), and the rest of the topic is not read.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.spark.search.errors import ExpressionError, expression_error
from penstock.spark.search.expressions import rewrite
from penstock.spark.search.table import COLUMNS, searchable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_ANSI = "spark.sql.ansi.enabled"
_LEAD = "("
_TRAIL = "\n)"
"""Around an expression: whatever ends in the middle of something is a mistake, and no comment goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to look for, and where."""

    topic: str
    expression: str | None = None
    """Of Spark SQL, over the columns of ``table.COLUMNS``."""
    text: str | None = None
    """To be found in the key or the value."""
    regex: str | None = None
    """Java's, to be found in the value."""
    since_ms: int | None = None
    until_ms: int | None = None
    """Records before this time."""
    times_rise: bool = False
    """Whether timestamps never fall as offsets rise, so that a topic need not be read behind ``until_ms``."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the data source: ``kafka.bootstrap.servers`` and others; empty to search the archive only."""
    archive: str | None = None

    def __post_init__(self) -> None:
        if not self.options and self.archive is None:
            raise UsageError("Nothing says where to search: name brokers, an archive, or both.")
        if None not in (self.since_ms, self.until_ms) and self.since_ms >= self.until_ms:  # type: ignore[operator]
            raise UsageError("The search ends before it begins: name a later end, or an earlier beginning.")


def search(spark: "SparkSession", wanted: Search) -> "DataFrame":
    """The records that match, as rows of ``table.searchable``; nothing is read before they are asked for."""
    records = searchable(_at_times(_records(spark, wanted), wanted))
    return chosen(records, expression=wanted.expression, text=wanted.text, regex=wanted.regex)


def chosen(
    found: "DataFrame", *, expression: str | None = None, text: str | None = None, regex: str | None = None
) -> "DataFrame":
    """The rows of ``table.searchable`` of which all that is given is true."""
    if text is not None:
        found = found.where(_contains(text))
    if regex is not None:
        found = found.where(_matches(found.sparkSession, regex))
    if expression is not None:
        found = matching(found, expression)
    return found


def matching(found: "DataFrame", written: str) -> "DataFrame":
    """The rows that an expression is true of; a mistake in it is an ``ExpressionError``."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    if not written.strip():
        raise ExpressionError("The expression is empty: write something like value LIKE '%error%'.")
    expression = rewrite(written)
    try:
        with _lenient(found.sparkSession):
            return found.where(F.expr(f"{_LEAD}{expression.text}{_TRAIL}"))
    except AnalysisException as error:
        raise expression_error(error, expression, lead=len(_LEAD), columns=COLUMNS) from error


def selecting(found: "DataFrame", columns: list[str]) -> "DataFrame":
    """Some expressions over each row, named as they are written."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    chosen = []
    for written in columns:
        expression = rewrite(written)
        column = F.expr(f"{_LEAD}{expression.text}{_TRAIL}").alias(written)
        try:
            with _lenient(found.sparkSession):
                found.select(column)
        except AnalysisException as error:
            raise expression_error(error, expression, lead=len(_LEAD), columns=COLUMNS) from error
        chosen.append(column)
    with _lenient(found.sparkSession):
        rows = found.select(*chosen)
        # As texts they are of the session's time zone, not of wherever they are shown.
        times = {name: F.col(f"`{name}`").cast("string") for name, kind in rows.dtypes if kind == "timestamp"}
        return rows.withColumns(times) if times else rows


def _records(spark: "SparkSession", wanted: Search) -> "DataFrame":
    if wanted.archive is None:
        return spark.read.format("penstock").options(**_live_options(wanted)).load()
    from penstock.spark.archive import read, read_with_topic

    if not wanted.options:
        return read(
            spark, wanted.archive, topics=[wanted.topic], since=wanted.since_ms, until=wanted.until_ms
        )
    return read_with_topic(
        spark,
        wanted.archive,
        wanted.topic,
        options=wanted.options,
        since=wanted.since_ms,
        until=wanted.until_ms,
    )


def _live_options(wanted: Search) -> dict[str, str]:
    options = {
        "kafka.isolation.level": "read_committed",
        **wanted.options,
        "subscribe": wanted.topic,
        "includeHeaders": "true",
    }
    if wanted.since_ms is not None:
        options["startingTimestamp"] = str(wanted.since_ms)
        options["startingOffsetsByTimestampStrategy"] = "latest"
    if wanted.until_ms is not None and wanted.times_rise:
        options["endingTimestamp"] = str(wanted.until_ms)
    return options


def _at_times(records: "DataFrame", wanted: Search) -> "DataFrame":
    from pyspark.sql import functions as F

    if wanted.since_ms is not None:
        records = records.where(F.col("timestamp") >= F.timestamp_millis(F.lit(wanted.since_ms)))
    if wanted.until_ms is not None:
        records = records.where(F.col("timestamp") < F.timestamp_millis(F.lit(wanted.until_ms)))
    return records


def _contains(text: str) -> "Column":
    from pyspark.sql import functions as F

    return F.coalesce(F.col("value").contains(text), F.lit(False)) | F.coalesce(
        F.col("key").contains(text), F.lit(False)
    )


def _matches(spark: "SparkSession", regex: str) -> "Column":
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    try:
        spark.range(1).select(F.lit("").rlike(regex)).collect()
    except PySparkException as error:
        raise UsageError(f"{regex!r} is no regular expression of Java's.") from error
    return F.col("value").rlike(regex)


@contextmanager
def _lenient(spark: "SparkSession") -> Iterator[None]:
    """What cannot be cast or divided is null, and does not end the search; decided as a query is made."""
    before = spark.conf.get(_ANSI) or "true"
    spark.conf.set(_ANSI, "false")
    try:
        yield
    finally:
        spark.conf.set(_ANSI, before)
