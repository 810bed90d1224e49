"""What an analysis has to know of each record, and no more: values are looked at here and then left behind.

All aggregates are made of these few columns, so that topics are read once, however many questions there are.
"""

from typing import TYPE_CHECKING

from penstock.spark.analysis.value_kinds import Kind, kind_of, parsed_json, schema_id, type_of
from penstock.spark.columns.schema import COLUMNS as TOPIC_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

STORED_COLUMNS = (
    *("key", "value", "topic", "partition", "offset", "timestamp"),
    *("recordBytes", "batchOffset", "batchIndex", "batchBytes", "batchPayloadBytes"),
    *("compression", "isTransactional", "isControl"),
)
"""What is asked of ``format("penstock-segments")``."""

_SAMPLED_OF = 16
_SAMPLE_BYTES_MAX = 64 * 1024

_VARINT_ENDS = (64, 8_192, 1_048_576, 134_217_728)
"""Below these a length takes one byte, two, three, four."""


def facts_of_stored(rows: "DataFrame") -> "DataFrame":
    """Of rows of ``format("penstock-segments")``."""
    return _facts(rows)


def facts_of_archived(rows: "DataFrame") -> "DataFrame":
    """Of rows of an archive, which has no batches.

    A record's size is what it takes alone in a batch: some bytes less than in a large one, where offsets and
    times are written as distances from the first record's.
    """
    from pyspark.sql import functions as F

    return _facts(
        rows.select(*TOPIC_COLUMNS)
        .withColumn("recordBytes", _size_alone())
        .withColumn("batchOffset", F.col("offset"))
        .withColumn("batchIndex", F.lit(None).cast("int"))
        .withColumn("batchBytes", F.lit(None).cast("int"))
        .withColumn("batchPayloadBytes", F.lit(None).cast("int"))
        .withColumn("compression", F.lit(None).cast("string"))
        .withColumn("isTransactional", F.lit(False))
        .withColumn("isControl", F.lit(False))
    )


def _facts(rows: "DataFrame") -> "DataFrame":
    """In three steps, each of which needs what the last has found: so nothing is computed twice."""
    from pyspark.sql import functions as F

    value, parsed, schema = F.col("value"), F.col("parsed"), F.col("schema")
    looked_at = rows.withColumns({"parsed": parsed_json(value), "schema": schema_id(value)})
    known = looked_at.select(
        "topic",
        "partition",
        "offset",
        "key",
        "value",
        F.unix_millis("timestamp").alias("millis"),
        F.col("recordBytes").alias("bytes"),
        kind_of(value, parsed, schema).alias("kind"),
        type_of(parsed, schema).alias("type"),
        F.col("batchOffset").alias("batch_offset"),
        F.coalesce(F.col("batchIndex") == 0, F.lit(False)).alias("is_first"),
        F.col("batchBytes").alias("batch_bytes"),
        F.col("batchPayloadBytes").alias("payload_bytes"),
        "compression",
        F.col("isTransactional").alias("is_transactional"),
        F.col("isControl").alias("is_control"),
    )
    sample = F.when((F.col("kind") == Kind.BINARY) & _is_sampled(), value)
    return known.withColumns({"is_tombstone": value.isNull(), "sample": sample}).drop("value")


def _is_sampled() -> "Column":
    """A few, spread evenly: of each batch the first, and of all others one in sixteen."""
    from pyspark.sql import functions as F

    is_chosen = F.pmod(F.xxhash64("partition", "offset"), F.lit(_SAMPLED_OF)) == 0
    return (F.octet_length("value") <= _SAMPLE_BYTES_MAX) & (F.col("is_first") | is_chosen)


def _size_alone() -> "Column":
    from pyspark.sql import functions as F

    headers = F.coalesce(F.col("headers"), F.array())
    header_bytes = F.aggregate(
        headers,
        F.lit(0),
        lambda total, one: total + _field_size(one["key"].cast("binary")) + _field_size(one["value"]),
    )
    body = (
        F.lit(3)  # attributes, and the two distances
        + _field_size(F.col("key"))
        + _field_size(F.col("value"))
        + _varint_size(F.size(headers))
        + header_bytes
    )
    return body + _varint_size(body)


def _field_size(content: "Column") -> "Column":
    from pyspark.sql import functions as F

    length = F.coalesce(F.octet_length(content), F.lit(0))
    return length + _varint_size(length)


def _varint_size(length: "Column") -> "Column":
    from pyspark.sql import functions as F

    size = F.lit(1)
    for end in _VARINT_ENDS:
        size = size + F.when(length >= end, 1).otherwise(0)
    return size
