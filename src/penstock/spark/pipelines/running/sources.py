"""Sources as DataFrames: streams, batches, and compacted topics as tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.spark.options.definition import Use
from penstock.spark.pipelines.model import PENSTOCK, ReadMode, Source
from penstock.spark.pipelines.option_check import options_for
from penstock.spark.pipelines.running.checkpoints import EARLIEST, OffsetRange, Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key: string, value: binary>>",
}
_OF_STREAMS = (
    "starting",
    "ending",
    "subscribe",
    "assign",
    "maxoffsets",
    "minoffsets",
    "maxtrigger",
    "groupid",
)
_TABLE_COLUMNS = ("key", "value", "partition", "offset", "timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """The columns of a topic that are read, among those that queries see."""

    needed: tuple[str, ...]
    visible: tuple[str, ...]


def read_source(
    spark: "SparkSession",
    source: Source,
    topic_options: Mapping[str, str],
    *,
    start: Offsets | None = None,
    narrowed: Narrowed | None = None,
) -> "DataFrame":
    """The rows of a source, before ``value`` is parsed; ``start`` is where a new stream begins, if known."""
    reader = spark.readStream if source.read is ReadMode.STREAM else spark.read
    reader = reader.format(source.format)
    if source.format != PENSTOCK:
        configured = reader.schema(source.schema) if source.schema else reader
        return configured.options(**source.options).load()
    if source.read is not ReadMode.STREAM:
        from penstock.spark.pipelines.running.live_topics import FORMAT, LiveTopics

        spark.dataSource.register(LiveTopics)
        reader = reader.format(FORMAT)
    columns = wanted_columns(source) if narrowed is None else narrowed.needed
    if columns:
        reader = reader.schema(record_schema(columns))
    use = Use.STREAM_READ if source.read is ReadMode.STREAM else Use.BATCH_READ
    options = {**options_for(use, topic_options), **_beginning(source.options, start)}
    rows = reader.options(**options).load()
    if narrowed is not None:
        rows = _widened(rows, narrowed)
    return latest_by_key(rows) if source.read is ReadMode.TABLE else rows


def read_range(
    spark: "SparkSession", source: Source, topic_options: Mapping[str, str], *, offsets: OffsetRange
) -> "DataFrame":
    """All columns of the records of a stream between two places."""
    kept = {name: text for name, text in source.options.items() if not name.lower().startswith(_OF_STREAMS)}
    options = {
        **options_for(Use.BATCH_READ, topic_options),
        **kept,
        "assign": json.dumps({topic: sorted(map(int, numbers)) for topic, numbers in offsets.end.items()}),
        "startingOffsets": json.dumps(offsets.start),
        "endingOffsets": json.dumps(offsets.end),
    }
    return spark.read.format(PENSTOCK).schema(record_schema(tuple(_TYPES))).options(**options).load()


def _widened(rows: "DataFrame", narrowed: Narrowed) -> "DataFrame":
    """All columns that queries see; those that are not read, since nobody looks at them, are null."""
    from pyspark.sql import functions as F

    return rows.select(
        *(
            F.col(name) if name in narrowed.needed else F.lit(None).cast(_TYPES[name]).alias(name)
            for name in narrowed.visible
        )
    )


def _beginning(options: Mapping[str, str], start: Offsets | None) -> dict[str, str]:
    """Known offsets in place of whatever the options say; what is not among them is new, and read whole."""
    if start is None:
        return dict(options)
    others = {topic: {**numbers, "*": EARLIEST} for topic, numbers in start.items()}
    kept = {name: text for name, text in options.items() if not name.lower().startswith("starting")}
    return {**kept, "startingOffsets": json.dumps({**others, "*": EARLIEST})}


def record_schema(columns: tuple[str, ...]) -> str:
    """Columns of a record as a schema; what is no such column is left for the source to refuse."""
    return ", ".join(f"`{name}` {_TYPES.get(name, 'string')}" for name in columns)


def wanted_columns(source: Source) -> tuple[str, ...]:
    """The columns of records that are needed, so that no others are sent; empty for all."""
    if source.columns or source.value is None:
        return source.columns
    needed = (source.value.options["column"], *source.value.options["keep"])
    if source.read is ReadMode.TABLE:
        needed = (*_TABLE_COLUMNS, *needed)
    return tuple(dict.fromkeys(needed)) if set(needed) <= _TYPES.keys() else ()


def latest_by_key(records: "DataFrame") -> "DataFrame":
    """One row for each key, its latest; keys whose latest value is null were deleted.

    Within a partition the highest offset is the latest, as compaction has it. A key is in several partitions
    only if their number was changed; then the latest time decides between them.
    """
    from pyspark.sql import functions as F

    others = [name for name in records.columns if name not in ("key", "partition")]
    keyed = records.where(F.col("key").isNotNull())
    by_partition = keyed.groupBy("key", "partition").agg(
        F.max_by(F.struct(*others), F.col("offset")).alias("__latest")
    )
    newest = F.struct(F.col("__latest.timestamp"), F.col("partition"))
    by_key = by_partition.groupBy("key").agg(
        F.max_by(F.struct("partition", "__latest.*"), newest).alias("__latest")
    )
    columns = [F.col("key") if name == "key" else F.col(f"__latest.`{name}`") for name in records.columns]
    return by_key.select(*columns).where(F.col("value").isNotNull())
