"""What a replay would take along: counted by reading it, without writing anything."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.spark.archive.replay.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCount:
    """Records of one partition; ``last_offset`` is that of the last of them."""

    incarnation: int
    partition: int
    records: int
    value_bytes: int
    first_offset: int
    last_offset: int
    first_timestamp_ms: int
    last_timestamp_ms: int


def count_records(spark: "SparkSession", source: Source) -> list[PartitionCount]:
    """Every partition that has something, in the order in which it would be replayed."""
    from pyspark.sql import functions as F

    millis = F.unix_millis("timestamp")
    counts: list[PartitionCount] = []
    for phase in source.phases(spark):
        found = (
            source.rows(spark, phase)
            .groupBy("partition")
            .agg(
                F.count(F.lit(1)).alias("records"),
                F.coalesce(F.sum(F.octet_length("value")), F.lit(0)).alias("value_bytes"),
                F.min("offset").alias("first_offset"),
                F.max("offset").alias("last_offset"),
                F.min(millis).alias("first_timestamp_ms"),
                F.max(millis).alias("last_timestamp_ms"),
            )
            .orderBy("partition")
        )
        counts += [_count(phase.incarnation, row) for row in found.collect()]
    return counts


def _count(incarnation: int, row: Any) -> PartitionCount:
    return PartitionCount(incarnation=incarnation, **row.asDict())
