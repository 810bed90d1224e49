"""Asking Spark: all aggregates of some facts, brought here as plain values.

Facts are kept by Spark while it is asked, in memory and beyond that on its disks, so that topics are read
once. What is brought here is small, however large topics are: only keys are many, and of them only the most
frequent come.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.analysis.timeline import fitting_width_ms
from penstock.model.ids import TopicPartition
from penstock.spark.analysis import tables
from penstock.spark.analysis.heat_map import is_weekly
from penstock.spark.analysis.topic_report import ProtobufGuess
from penstock.spark.analysis.value_kinds import looks_like_protobuf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERIES_AT_ONCE = 4

_COMPRESSED = "spark.sql.inMemoryColumnarStorage.compressed"

Row = dict[str, Any]
ByPartition = dict[TopicPartition, list[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The rows of all tables, by partition or by topic."""

    partitions: dict[TopicPartition, Row]
    sizes: ByPartition
    codecs: ByPartition
    timeline: ByPartition
    key_totals: dict[TopicPartition, Row]
    top_keys: ByPartition
    distinct: dict[str, int]
    topic_top_keys: dict[str, list[Row]]
    kinds: dict[str, list[Row]]
    types: dict[str, list[Row]]
    heat_map: dict[str, list[Row]]
    weekly: set[str]
    protobuf: dict[str, ProtobufGuess] = field(default_factory=dict)


@contextmanager
def kept(frame: "DataFrame") -> "Iterator[DataFrame]":
    """The same rows, kept by Spark as long as the block takes."""
    held = _persisted(frame)
    try:
        yield held
    finally:
        held.unpersist()


def _persisted(frame: "DataFrame") -> "DataFrame":
    """As they are: compressing took a third of the time of an analysis, and made reading them slower."""
    conf = frame.sparkSession.conf
    before = conf.get(_COMPRESSED) or "true"
    conf.set(_COMPRESSED, "false")
    try:
        return frame.persist()
    finally:
        conf.set(_COMPRESSED, before)


def count(facts: "DataFrame", keys: "DataFrame", *, top_max: int) -> Counted:
    """All aggregates; ``facts`` and ``keys`` are better kept."""
    # The first question has everything read, and tells what others need; these are asked at once.
    partitions = {_place(row): row for row in _rows(tables.partitions_table(facts))}
    weekly = weekly_topics(partitions)
    topic_keys = tables.topic_keys_table(keys)
    found = _all_rows(
        {
            "sizes": tables.sizes_table(facts),
            "codecs": tables.codecs_table(facts),
            "timeline": tables.timeline_table(facts, widths_ms(partitions)),
            "key_totals": tables.key_totals_table(keys),
            "top_keys": tables.top_keys_table(keys, "topic", "partition", top_max=top_max),
            "distinct": tables.distinct_table(topic_keys),
            "topic_top_keys": tables.top_keys_table(topic_keys, "topic", top_max=top_max),
            "kinds": tables.kinds_table(facts),
            "types": tables.types_table(facts),
            "heat_map": tables.heat_map_table(facts, weekly),
            "samples": tables.samples_table(facts),
        }
    )
    return Counted(
        partitions=partitions,
        sizes=_by_partition(found["sizes"]),
        codecs=_by_partition(found["codecs"]),
        timeline=_by_partition(found["timeline"]),
        key_totals={_place(row): row for row in found["key_totals"]},
        top_keys=_by_partition(_in_order(found["top_keys"])),
        distinct={row["topic"]: row["distinct"] for row in found["distinct"]},
        topic_top_keys=_by_topic(_in_order(found["topic_top_keys"])),
        kinds=_by_topic(found["kinds"]),
        types=_by_topic(found["types"]),
        heat_map=_by_topic(found["heat_map"]),
        weekly=weekly,
        protobuf={topic: guess_protobuf(rows) for topic, rows in _by_topic(found["samples"]).items()},
    )


def widths_ms(partitions: dict[TopicPartition, Row]) -> dict[TopicPartition, int]:
    """How wide the stretches of each partition's timeline are."""
    return {
        partition: fitting_width_ms(row["earliest_ms"], row["latest_ms"])
        for partition, row in partitions.items()
        if row["earliest_ms"] is not None
    }


def weekly_topics(partitions: dict[TopicPartition, Row]) -> set[str]:
    """Topics of which a heat map shows the days of the week."""
    ends: dict[str, list[int]] = defaultdict(list)
    for partition, row in partitions.items():
        if row["earliest_ms"] is not None:
            ends[partition.topic] += (row["earliest_ms"], row["latest_ms"])
    return {topic for topic, times in ends.items() if is_weekly(min(times), max(times))}


def guess_protobuf(rows: Sequence[Row]) -> ProtobufGuess:
    """Look at some binary values of a topic."""
    values = [bytes(row["sample"]) for row in rows]
    return ProtobufGuess(sampled=len(values), matching=sum(map(looks_like_protobuf, values)))


def _all_rows(frames: "Mapping[str, DataFrame]") -> dict[str, list[Row]]:
    """Several questions at once: while Spark plans one, it can answer another."""
    with ThreadPoolExecutor(QUERIES_AT_ONCE, "analysis") as pool:
        return dict(zip(frames, pool.map(_rows, frames.values()), strict=True))


def _in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["place"])


def _rows(table: "DataFrame") -> list[Row]:
    return [row.asDict() for row in table.collect()]


def _place(row: Row) -> TopicPartition:
    return TopicPartition(row["topic"], row["partition"])


def _by_partition(rows: Sequence[Row]) -> ByPartition:
    grouped: ByPartition = defaultdict(list)
    for row in rows:
        grouped[_place(row)].append(row)
    return grouped


def _by_topic(rows: Sequence[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["topic"]].append(row)
    return grouped
