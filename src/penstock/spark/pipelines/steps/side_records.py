"""Records that leave the main way, with the reason in their headers.

A dead letter is the record as it was, key, value and headers, and four headers more, which say where it came
from and why it is here. So it can be looked at with any tool, mended, and sent again.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.spark.pipelines.steps.step import RECORD_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TOPIC_HEADER = "__dlq.topic"
PARTITION_HEADER = "__dlq.partition"
OFFSET_HEADER = "__dlq.offset"
ERROR_HEADER = "__dlq.error"

RECORD_FIELDS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_HEADERS = "array<struct<key: string, value: binary>>"


def with_record(frame: "DataFrame") -> "DataFrame":
    """The rows of a topic with the whole record in one more column."""
    from pyspark.sql import functions as F

    return frame.withColumn(RECORD_COLUMN, F.struct(*RECORD_FIELDS))


def dead_letters(
    frame: "DataFrame", reason: "Column", *, more: "Mapping[str, Column] | None" = None
) -> "DataFrame":
    """Columns ``key``, ``value`` and ``headers`` of the records behind the rows."""
    from pyspark.sql import functions as F

    record = F.col(RECORD_COLUMN)
    texts = {
        TOPIC_HEADER: record["topic"],
        PARTITION_HEADER: record["partition"],
        OFFSET_HEADER: record["offset"],
        ERROR_HEADER: reason,
        **(more or {}),
    }
    added = F.array(
        *(
            F.struct(F.lit(name).alias("key"), F.encode(text.cast("string"), "UTF-8").alias("value"))
            for name, text in texts.items()
        )
    ).cast(_HEADERS)
    own = F.coalesce(record["headers"], F.array().cast(_HEADERS))
    return frame.select(
        record["key"].alias("key"), record["value"].alias("value"), F.concat(own, added).alias("headers")
    )
