"""Records as the table that expressions are about: texts where topics have bytes, headers by name, JSON."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COLUMNS = ("key", "value", "json", "headers", "topic", "partition", "offset", "timestamp")
"""What expressions may name; ``key_bytes`` and ``value_bytes`` are there as well."""

RAW_COLUMNS = ("key_bytes", "value_bytes", "raw_headers")
"""The record as it is."""


def searchable(records: "DataFrame") -> "DataFrame":
    """Rows of the data source with headers, or of an archive, as the table of a search.

    Of several headers with the same name the last counts. ``json`` is a variant, null where the value is no
    JSON.
    """
    from pyspark.sql import functions as F

    text = F.col("value").cast("string")
    return records.select(
        F.col("key").cast("string").alias("key"),
        text.alias("value"),
        F.try_parse_json(text).alias("json"),
        _by_name(F.col("headers")).alias("headers"),
        "topic",
        "partition",
        "offset",
        "timestamp",
        F.col("key").alias("key_bytes"),
        F.col("value").alias("value_bytes"),
        F.col("headers").alias("raw_headers"),
    )


def as_records(found: "DataFrame") -> "DataFrame":
    """Rows of the table as records again, with the columns that can be written to a topic."""
    from pyspark.sql import functions as F

    return found.select(
        F.col("key_bytes").alias("key"),
        F.col("value_bytes").alias("value"),
        F.col("raw_headers").alias("headers"),
        "topic",
        "partition",
        "offset",
        "timestamp",
    )


def as_messages(found: "DataFrame") -> "DataFrame":
    """Rows of the table as records to be shown: with ``timestamp_ms``, which means the same in every zone."""
    from pyspark.sql import functions as F

    return as_records(found).withColumn("timestamp_ms", F.unix_millis("timestamp")).drop("timestamp")


def _by_name(headers: "Column") -> "Column":
    from pyspark.sql import functions as F

    def last(name: "Column") -> "Column":
        named = F.filter(headers, lambda one: one["key"] == name)
        return F.struct(name, F.element_at(named, -1)["value"].cast("string"))

    names = F.array_distinct(F.transform(headers, lambda one: one["key"]))
    return F.when(headers.isNotNull(), F.map_from_entries(F.transform(names, last)))
