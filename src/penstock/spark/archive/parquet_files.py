"""Rows into Parquet files, and what is in the files that came out.

Spark writes the files of an attempt into a directory of its own, and is then asked what it wrote there: that
is what the manifest will say of them. A file whose rows are not those that were sent never gets that far.
"""

import secrets
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.files import ArchivedFile, Span
from penstock.spark.archive.paths import PARTITION_COLUMNS, Attempt, hour_of
from penstock.spark.archive.stores.store import Store
from penstock.spark.columns.schema import COLUMNS, spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CODECS = ("zstd", "snappy", "gzip", "lz4_raw", "uncompressed")

FILE_COLUMNS = tuple(name for name in COLUMNS if name not in PARTITION_COLUMNS)
"""What is inside the files; the topic is in their path."""

_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000

_WRITE_OPTIONS = {
    # Nobody looks at a staging directory before the job is over, so moving files there once is enough.
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}

_SESSION = {
    # The default has no statistics, by which readers pass over what they do not want.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """How files are written."""

    codec: str = "zstd"
    tasks_max: int | None = None
    """How many tasks write at once, each its own file an hour; as many as Spark has cores if not said."""

    def __post_init__(self) -> None:
        if self.codec not in CODECS:
            raise UsageError(f"There is no codec {self.codec!r}: choose one of {', '.join(CODECS)}.")
        if self.tasks_max is not None and self.tasks_max < 1:
            raise UsageError(f"{self.tasks_max} tasks cannot write anything: allow 1 or more.")


def new_attempt() -> Attempt:
    """An attempt that begins now."""
    return Attempt(now_ms(), secrets.token_hex(4))


def now_ms() -> int:
    """The time, as commits have it."""
    return int(time.time() * 1000)


def write_files(
    rows: "DataFrame", store: Store, attempt: Attempt, *, settings: FileSettings
) -> list[ArchivedFile]:
    """Write rows below the staging directory of an attempt; the files, with their paths there.

    The session of the rows is changed to write as we need it: hand in one of your own.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    session = rows.sparkSession
    for name, value in _SESSION.items():
        session.conf.set(name, value)
    sent = Observation()
    _ordered(rows, settings).observe(sent, F.count(F.lit(1)).alias("rows")).write.options(
        **_WRITE_OPTIONS, compression=settings.codec
    ).partitionBy(*PARTITION_COLUMNS).parquet(store.uri(attempt.staging))
    files = describe_files(session, store, attempt.staging)
    written = sum(file.rows for file in files)
    if written != sent.get["rows"]:
        raise ArchiveError(
            f"{sent.get['rows']} rows were to be written to {store.uri(attempt.staging)}, but "
            f"there are {written}."
        )
    return files


def describe_files(spark: "SparkSession", store: Store, directory: str) -> list[ArchivedFile]:
    """What the Parquet files below a directory hold, by reading the columns that say so."""
    from pyspark.sql import functions as F

    if not any(file.path.endswith(".parquet") for file in store.files(directory)):
        return []
    millis = F.unix_millis("timestamp")
    found = (
        spark.read.schema(spark_ddl(("partition", "offset", "timestamp")))
        .parquet(store.uri(directory))
        .groupBy(
            F.col("_metadata.file_path").alias("uri"),
            F.col("_metadata.file_size").alias("bytes"),
            "partition",
        )
        .agg(
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.count(F.lit(1)).alias("rows"),
            F.min(millis).alias("first_ms"),
            F.max(millis).alias("last_ms"),
        )
    )
    by_file = defaultdict(list)
    for row in found.collect():
        by_file[store.path_of(row["uri"]), row["bytes"]].append(row)
    return [
        ArchivedFile(
            path=path,
            size_bytes=size_bytes,
            incarnation=0,
            first_timestamp_ms=min(row["first_ms"] for row in rows),
            last_timestamp_ms=max(row["last_ms"] for row in rows),
            spans={row["partition"]: Span(row["first"], row["last"], row["rows"]) for row in rows},
        )
        for (path, size_bytes), rows in sorted(by_file.items())
    ]


def move_into_place(
    store: Store, files: Sequence[ArchivedFile], attempt: Attempt, *, prefix: str
) -> list[ArchivedFile]:
    """Move staged files to the directories of their hours, durably; nothing names them yet."""
    moved = []
    for number, file in enumerate(files):
        inside = file.path.removeprefix(f"{attempt.staging}/")
        hour = hour_of(inside)
        if hour is None:
            raise ArchiveError(f"Spark wrote {file.path}, which is not in the directory of an hour.")
        suffix = "".join(_suffixes(inside))
        moved.append(file.moved(f"{hour.directory}/{prefix}{attempt.digits}-{number:05d}{suffix}"))
    store.move((before.path, after.path) for before, after in zip(files, moved, strict=True))
    return moved


def _suffixes(path: str) -> list[str]:
    """``.zstd.parquet`` of the names that Spark gives."""
    return [f".{part}" for part in path.rpartition("/")[2].split(".")[1:] if not part.startswith("c0")]


def _ordered(rows: "DataFrame", settings: FileSettings) -> "DataFrame":
    """All columns and those of the directories, in few pieces, each in the order that files have."""
    tasks_max = settings.tasks_max or rows.sparkSession.sparkContext.defaultParallelism
    return (
        rows.select(*COLUMNS, _date().alias("date"), _hour().alias("hour"))
        .coalesce(tasks_max)
        .sortWithinPartitions(*PARTITION_COLUMNS, "partition", "offset")
    )


def _date() -> "Column":
    """Of the record in UTC, whatever the session's zone is: by arithmetic."""
    from pyspark.sql import functions as F

    days = F.floor(F.unix_millis("timestamp") / F.lit(_DAY_MS)).cast("int")
    return F.date_from_unix_date(days).cast("string")


def _hour() -> "Column":
    from pyspark.sql import functions as F

    hours = F.floor(F.unix_millis("timestamp") / F.lit(_HOUR_MS))
    return F.lpad(F.pmod(hours, F.lit(24)).cast("string"), 2, "0")
