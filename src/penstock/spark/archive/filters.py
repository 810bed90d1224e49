"""Conditions on offsets, as Spark takes them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.model.ids import TopicPartition
from penstock.spark.archive.intervals import Intervals

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Wanted = Mapping[TopicPartition, Intervals]


def without(rows: "DataFrame", fence: Wanted) -> "DataFrame":
    """The rows outside of some stretches of offsets."""
    return rows.where(~within(fence)) if any(fence.values()) else rows


def within(wanted: Wanted) -> "Column":
    """Whether a row is in one of some stretches of offsets."""
    from pyspark.sql import functions as F

    conditions = []
    for partition, intervals in sorted(wanted.items()):
        for start, end in intervals:
            is_there = (F.col("topic") == partition.topic) & (F.col("partition") == partition.partition)
            conditions.append(is_there & (F.col("offset") >= start) & (F.col("offset") < end))
    return _any(conditions) if conditions else F.lit(False)


def _any(conditions: "Sequence[Column]") -> "Column":
    """One or the other; as a tree of little depth, since Spark walks it recursively."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return _any(conditions[:middle]) | _any(conditions[middle:])
