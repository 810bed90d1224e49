"""The aggregates of an analysis, each a small table of Spark made of the facts.

The same names and meanings as in ``penstock.analysis``, so that both tell the same of the same records.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.model.ids import TopicPartition
from penstock.records.batch import HEADER_BYTES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LEADING_BITS = 7
"""Sizes that agree in so many bits share a bucket, as in ``penstock.analysis.size_histogram``."""

TYPES_MAX = 50
"""Of one topic: those with most messages."""

SAMPLES_MAX = 200
"""Binary values of one topic."""

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS


def partitions_table(facts: "DataFrame") -> "DataFrame":
    """One row for each partition: counts, sums and ends."""
    from pyspark.sql import functions as F

    is_message = ~F.col("is_control")
    millis, size = F.when(is_message & (F.col("millis") >= 0), F.col("millis")), _of_messages("bytes")
    return facts.groupBy("topic", "partition").agg(
        F.count_if(is_message).alias("messages"),
        F.count_if(F.col("is_first")).alias("batches"),
        F.coalesce(F.sum(F.when(F.col("is_first"), F.col("batch_bytes"))), F.lit(0)).alias("batch_bytes"),
        F.count_if(F.col("is_control")).alias("transaction_markers"),
        F.count_if(is_message & F.col("is_transactional")).alias("transactional_messages"),
        F.count_if(is_message & F.col("is_tombstone")).alias("tombstones"),
        F.count_if(is_message & F.col("key").isNull()).alias("null_keys"),
        F.coalesce(F.sum(size), F.lit(0)).alias("message_bytes"),
        F.coalesce(F.min(size), F.lit(0)).alias("smallest"),
        F.coalesce(F.max(size), F.lit(0)).alias("largest"),
        F.min(millis).alias("earliest_ms"),
        F.max(millis).alias("latest_ms"),
        F.count_if(is_message & F.coalesce(F.col("millis") < 0, F.lit(True))).alias("untimed_messages"),
        F.min("batch_offset").alias("first_offset"),
        (F.max("offset") + 1).alias("next_offset"),
    )


def sizes_table(facts: "DataFrame") -> "DataFrame":
    """Messages by the smallest size of their bucket."""
    from pyspark.sql import functions as F

    shift = F.greatest(F.length(F.bin("bytes")) - LEADING_BITS, F.lit(0))
    bucket = F.expr("shiftleft(shiftright(bytes, shift), shift)")
    return (
        _messages(facts)
        .withColumn("shift", shift)
        .groupBy("topic", "partition", bucket.alias("size"))
        .agg(F.count("*").alias("messages"))
    )


def codecs_table(facts: "DataFrame") -> "DataFrame":
    """Batches by what they are compressed with."""
    from pyspark.sql import functions as F

    return (
        _messages(facts)
        .where("is_first")
        .groupBy("topic", "partition", "compression")
        .agg(
            F.count("*").alias("batches"),
            F.sum(F.col("batch_bytes") - HEADER_BYTES).alias("stored_bytes"),
            F.sum("payload_bytes").alias("uncompressed_bytes"),
        )
    )


def timeline_table(facts: "DataFrame", widths_ms: Mapping[TopicPartition, int]) -> "DataFrame":
    """Messages by when their stretch of time begins, as wide as is said for each partition."""
    from pyspark.sql import functions as F

    spark = facts.sparkSession
    rows = [(one.topic, one.partition, width) for one, width in widths_ms.items()]
    widths = spark.createDataFrame(rows, "topic string, partition int, bucket_ms bigint")
    start = F.col("millis") - F.col("millis") % F.col("bucket_ms")
    return (
        _messages(facts)
        .where("millis >= 0")
        .join(F.broadcast(widths), ["topic", "partition"])
        .groupBy("topic", "partition", "bucket_ms", start.alias("start_ms"))
        .agg(F.count("*").alias("messages"))
    )


def heat_map_table(facts: "DataFrame", weekly: set[str]) -> "DataFrame":
    """Messages by day and hour, in UTC; of topics in ``weekly`` by day of the week, 0 for Monday."""
    from pyspark.sql import functions as F

    millis = F.col("millis")
    day = F.floor(millis / _DAY_MS).cast("int")
    # The first of January 1970 was a Thursday.
    weekday = F.pmod(day + 3, F.lit(7)).cast("int")
    is_weekly = F.col("topic").isin(*weekly) if weekly else F.lit(False)
    return (
        _messages(facts)
        .where("millis >= 0")
        .groupBy(
            "topic",
            F.when(is_weekly, weekday).otherwise(day).alias("day"),
            F.floor(millis % _DAY_MS / _HOUR_MS).cast("int").alias("hour"),
        )
        .agg(F.count("*").alias("messages"))
    )


def types_table(facts: "DataFrame") -> "DataFrame":
    """Messages by kind and type, the most frequent types of each topic."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    counted = (
        _messages(facts)
        .groupBy("topic", "kind", "type")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("message_bytes"))
    )
    order = Window.partitionBy("topic").orderBy(F.col("messages").desc(), "kind", "type")
    return (
        counted.withColumn("place", F.row_number().over(order)).where(f"place <= {TYPES_MAX}").drop("place")
    )


def samples_table(facts: "DataFrame") -> "DataFrame":
    """Some binary values of each topic, to be looked at one by one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = Window.partitionBy("topic").orderBy(F.xxhash64("partition", "offset"))
    sampled = _messages(facts).where("sample IS NOT NULL")
    placed = sampled.withColumn("place", F.row_number().over(order)).where(f"place <= {SAMPLES_MAX}")
    return placed.select("topic", "sample")


def kinds_table(facts: "DataFrame") -> "DataFrame":
    """Messages by kind alone."""
    from pyspark.sql import functions as F

    return (
        _messages(facts)
        .groupBy("topic", "kind")
        .agg(F.count("*").alias("messages"), F.sum("bytes").alias("message_bytes"))
    )


def keys_table(facts: "DataFrame") -> "DataFrame":
    """One row for each key of each partition, and what compaction would leave of it: its last record."""
    from pyspark.sql import functions as F

    return (
        _messages(facts)
        .where("key IS NOT NULL")
        .groupBy("topic", "partition", "key")
        .agg(
            F.count("*").alias("messages"),
            F.sum("bytes").alias("message_bytes"),
            F.max("offset").alias("last_offset"),
            F.max_by("bytes", "offset").alias("last_bytes"),
            F.max_by("is_tombstone", "offset").alias("is_deleted"),
        )
    )


def key_totals_table(keys: "DataFrame") -> "DataFrame":
    """What each partition's keys come to, and what compaction would leave."""
    from pyspark.sql import functions as F

    return keys.groupBy("topic", "partition").agg(
        F.count("*").alias("distinct"),
        F.sum("messages").alias("keyed_messages"),
        F.sum("message_bytes").alias("keyed_bytes"),
        F.sum("last_bytes").alias("kept_bytes"),
        F.count_if("is_deleted").alias("deleted_keys"),
        F.coalesce(F.sum(F.when(F.col("is_deleted"), F.col("last_bytes"))), F.lit(0)).alias("deleted_bytes"),
    )


def topic_keys_table(keys: "DataFrame") -> "DataFrame":
    """One row for each key of each topic, whichever partitions it is in."""
    from pyspark.sql import functions as F

    return keys.groupBy("topic", "key").agg(F.sum("messages").alias("messages"))


def distinct_table(topic_keys: "DataFrame") -> "DataFrame":
    """How many different keys each topic has."""
    from pyspark.sql import functions as F

    return topic_keys.groupBy("topic").agg(F.count("*").alias("distinct"))


def top_keys_table(keys: "DataFrame", *by: str, top_max: int) -> "DataFrame":
    """The keys with most messages, of each topic or partition."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = Window.partitionBy(*by).orderBy(F.col("messages").desc(), "key")
    placed = keys.withColumn("place", F.row_number().over(order)).where(f"place <= {top_max}")
    return placed.select(*by, "key", "messages", "place")


def _messages(facts: "DataFrame") -> "DataFrame":
    return facts.where("NOT is_control")


def _of_messages(column: str) -> "Column":
    from pyspark.sql import functions as F

    return F.when(~F.col("is_control"), F.col(column))
