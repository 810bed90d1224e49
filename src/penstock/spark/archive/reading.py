"""Archives as tables: the columns of a topic, read from the files that the manifest names and no others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.archive.continuing import missed, starting_offsets
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.filters import within
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.manifest import load as load
from penstock.spark.archive.parquet_files import FILE_COLUMNS
from penstock.spark.archive.selection import Selection, select_files
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.opening import open_store
from penstock.spark.archive.stores.store import Store
from penstock.spark.columns.schema import COLUMNS, COLUMNS_WITHOUT_HEADERS, spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Offsets = Mapping[str, Mapping[int, tuple[int, int]]]
"""First offset, and the one behind the last, by partition and topic."""

_FILE_SCHEMA = f"{spark_ddl(FILE_COLUMNS)}, topic STRING, date STRING, hour STRING"


def read(
    spark: "SparkSession",
    path: str,
    *,
    topics: Sequence[str] | None = None,
    since: datetime | int | None = None,
    until: datetime | int | None = None,
    offsets: Offsets | None = None,
    include_headers: bool = True,
) -> "DataFrame":
    """What an archive has at this moment, with the columns of the data source.

    ``since`` and ``until`` are record timestamps, as a ``datetime`` (UTC unless it has a zone) or
    milliseconds since 1970; ``until`` is not part of it, nor is the second of two ``offsets``. Files that
    cannot have what is asked for are not opened.
    """
    store = open_store(path, spark)
    selection = Selection(
        topics=None if topics is None else tuple(topics),
        since_ms=as_millis(since),
        until_ms=as_millis(until),
        offsets=None if offsets is None else _by_partition(offsets),
    )
    return read_selection(spark, store, load(store), selection).select(*_columns(include_headers))


def read_with_topic(
    spark: "SparkSession",
    path: str,
    topic: str,
    *,
    options: Mapping[str, str],
    since: datetime | int | None = None,
    until: datetime | int | None = None,
    include_headers: bool = True,
) -> "DataFrame":
    """All of a topic: from the archive as far as that goes, from the topic itself what it has besides.

    No record is missing and none comes twice, whatever is archived meanwhile. ``options`` are those of the
    data source, such as ``kafka.bootstrap.servers``. If the topic has lost what comes next after the archive,
    that is a loss of data, handled as ``failOnDataLoss`` says.
    """
    _check_begins_nowhere(options)
    store = open_store(path, spark)
    selection = Selection(topics=(topic,), since_ms=as_millis(since), until_ms=as_millis(until))
    state = load(store)
    archived = read_selection(spark, store, state, selection).select(*_columns(include_headers))
    asked = {"kafka.isolation.level": "read_committed", **options, "subscribe": topic}
    live = (
        spark.read.format("penstock")
        .options(**asked, startingOffsets=starting_offsets(state, asked), includeHeaders=str(include_headers))
        .load()
    )
    for others in (live, *_missed(spark, state, asked, include_headers=include_headers)):
        archived = archived.unionByName(_at_times(others, selection).select(*_columns(include_headers)))
    return archived


def _check_begins_nowhere(options: Mapping[str, str]) -> None:
    """A time to begin at would win over where the archive ends, and bring what that has once more."""
    for name in options:
        if name.lower().startswith("starting"):
            raise UsageError(
                f"Leave out {name!r}: the topic is read where the archive has nothing of it. `since` says "
                "from which time on."
            )


def _missed(
    spark: "SparkSession", state: ArchiveState, options: Mapping[str, str], *, include_headers: bool
) -> "Iterator[DataFrame]":
    """The records of the topic that queries which archive were never at; mostly there are none."""
    ranges = missed(state, options)
    if not ranges:
        return
    topic = options["subscribe"]
    asked = {name: text for name, text in options.items() if name != "subscribe"}
    starts = {str(partition.partition): intervals[0].start for partition, intervals in ranges.items()}
    ends = {str(partition.partition): intervals[-1].end for partition, intervals in ranges.items()}
    rows = (
        spark.read.format("penstock")
        .options(**asked, assign=json.dumps({topic: sorted(map(int, starts))}))
        .options(startingOffsets=json.dumps({topic: starts}), endingOffsets=json.dumps({topic: ends}))
        .options(includeHeaders=str(include_headers))
    )
    yield rows.load().where(within(ranges))


def read_selection(
    spark: "SparkSession", store: Store, state: ArchiveState, selection: Selection
) -> "DataFrame":
    """The rows of a selection, with all columns."""
    chosen = _at_times(read_files(spark, store, select_files(state, selection)), selection)
    if selection.offsets is None:
        return chosen
    return chosen.where(within({partition: (one,) for partition, one in selection.offsets.items()}))


def read_files(spark: "SparkSession", store: Store, files: Sequence[ArchivedFile]) -> "DataFrame":
    """All rows of some files, with all columns."""
    if not files:
        return spark.createDataFrame([], spark_ddl(COLUMNS))
    return (
        spark.read.schema(_FILE_SCHEMA)
        .option("basePath", store.uri(""))
        .parquet(*(store.uri(file.path) for file in files))
        .select(*COLUMNS)
    )


def as_millis(instant: datetime | int | None) -> int | None:
    """Milliseconds since 1970."""
    if not isinstance(instant, datetime):
        return instant
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def _at_times(rows: "DataFrame", selection: Selection) -> "DataFrame":
    from pyspark.sql import functions as F

    chosen = rows
    if selection.since_ms is not None:
        chosen = chosen.where(F.col("timestamp") >= F.timestamp_millis(F.lit(selection.since_ms)))
    if selection.until_ms is not None:
        chosen = chosen.where(F.col("timestamp") < F.timestamp_millis(F.lit(selection.until_ms)))
    return chosen


def _columns(include_headers: bool) -> Sequence[str]:
    return COLUMNS if include_headers else COLUMNS_WITHOUT_HEADERS


def _by_partition(offsets: Offsets) -> dict[TopicPartition, Interval]:
    named = {
        TopicPartition(topic, number): Interval(start, end)
        for topic, numbers in offsets.items()
        for number, (start, end) in numbers.items()
    }
    for partition, interval in named.items():
        if interval.is_empty:
            raise UsageError(
                f"There is no offset from {interval.start} to {interval.end - 1} in {partition}."
            )
    return named
