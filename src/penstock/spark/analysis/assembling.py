"""From the rows of aggregates to reports of topics, in the terms of ``penstock.analysis``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.analysis.codec_usage import CodecTotals
from penstock.analysis.partition_analysis import PartitionAnalysis, TopicAnalysis
from penstock.analysis.record_statistics import RecordStatistics
from penstock.model.ids import TopicPartition
from penstock.records.compression import CODEC_NAMES
from penstock.spark.analysis.counting import Counted, Row
from penstock.spark.analysis.heat_map import HeatMap, heat_map
from penstock.spark.analysis.key_summary import KeySummary
from penstock.spark.analysis.topic_report import Compaction, ProtobufGuess, TopicReport, TypeCount
from penstock.spark.analysis.value_kinds import Kind

if TYPE_CHECKING:
    from penstock.spark.analysis.sources import AnalysisSource


def reports(source: "AnalysisSource", counted: Counted) -> list[TopicReport]:
    """One for each topic, by name."""
    names = sorted({partition.topic for partition in source.partitions})
    return [_report(topic, source, counted) for topic in names]


def _report(topic: str, source: "AnalysisSource", counted: Counted) -> TopicReport:
    numbers = sorted(one for one in source.partitions if one.topic == topic)
    partitions = tuple(_partition(one, source, counted) for one in numbers)
    return TopicReport(
        analysis=TopicAnalysis(
            topic=topic, partitions=partitions, statistics=_together(topic, partitions, counted)
        ),
        kinds=_types(counted.kinds.get(topic, ())),
        types=_types([row for row in counted.types.get(topic, ()) if row["type"] is not None]),
        protobuf=counted.protobuf.get(topic, ProtobufGuess()),
        compaction=_compaction(numbers, counted),
        heat_map=_heat_map(topic, counted),
    )


def _partition(partition: TopicPartition, source: "AnalysisSource", counted: Counted) -> PartitionAnalysis:
    row = counted.partitions.get(partition)
    analysis = PartitionAnalysis(
        partition=partition, statistics=RecordStatistics(), files=source.files.get(partition)
    )
    if row is not None:
        _fill(analysis.statistics, partition, row, counted)
        analysis.first_offset, analysis.next_offset = row["first_offset"], row["next_offset"]
    return analysis


def _fill(statistics: RecordStatistics, partition: TopicPartition, row: Row, counted: Counted) -> None:
    statistics.batch_count = row["batches"]
    statistics.batch_bytes = row["batch_bytes"]
    statistics.marker_count = row["transaction_markers"]
    statistics.tombstone_count = row["tombstones"]
    statistics.transactional_count = row["transactional_messages"]
    statistics.sizes.add_counted(
        {one["size"]: one["messages"] for one in counted.sizes.get(partition, ())},
        total=row["message_bytes"],
        smallest=row["smallest"],
        largest=row["largest"],
    )
    _fill_times(statistics, row, counted.timeline.get(partition, ()))
    for one in counted.codecs.get(partition, ()):
        totals = CodecTotals(one["batches"], one["stored_bytes"], one["uncompressed_bytes"])
        statistics.codecs.add(CODEC_NAMES[one["compression"]], totals)
    totals_of_keys = counted.key_totals.get(partition, {})
    statistics.keys = KeySummary(
        keyed_count=totals_of_keys.get("keyed_messages", 0),
        null_count=row["null_keys"],
        distinct_count=totals_of_keys.get("distinct", 0),
        top=_top(counted.top_keys.get(partition, ())),
    )


def _fill_times(statistics: RecordStatistics, row: Row, buckets: Sequence[Row]) -> None:
    statistics.timeline.untimed_count = row["untimed_messages"]
    if buckets:
        statistics.timeline.add_counted(
            {one["start_ms"]: one["messages"] for one in buckets},
            width_ms=buckets[0]["bucket_ms"],
            earliest_ms=row["earliest_ms"],
            latest_ms=row["latest_ms"],
        )


def _together(topic: str, partitions: Sequence[PartitionAnalysis], counted: Counted) -> RecordStatistics:
    """All partitions; their keys are not added up but counted by Spark, since they may share some."""
    together = RecordStatistics()
    for partition in partitions:
        together.merge(partition.statistics)
    keys = [partition.statistics.keys for partition in partitions]
    together.keys = KeySummary(
        keyed_count=sum(each.keyed_count for each in keys),
        null_count=sum(each.null_count for each in keys),
        distinct_count=counted.distinct.get(topic, 0),
        top=_top(counted.topic_top_keys.get(topic, ())),
    )
    return together


def _top(rows: Sequence[Row]) -> list[tuple[bytes, int]]:
    return [(bytes(row["key"]), row["messages"]) for row in rows]


def _types(rows: Sequence[Row]) -> tuple[TypeCount, ...]:
    counts = (
        TypeCount(
            kind=Kind(row["kind"]),
            type=row.get("type"),
            messages=row["messages"],
            message_bytes=row["message_bytes"],
        )
        for row in rows
    )
    return tuple(sorted(counts, key=lambda one: (-one.messages, one.kind, one.type or "")))


def _compaction(partitions: Sequence[TopicPartition], counted: Counted) -> Compaction:
    keys = [counted.key_totals[one] for one in partitions if one in counted.key_totals]
    rows = [counted.partitions[one] for one in partitions if one in counted.partitions]
    return Compaction(
        messages=sum(row["messages"] for row in rows),
        message_bytes=sum(row["message_bytes"] for row in rows),
        removable_messages=sum(row["keyed_messages"] - row["distinct"] for row in keys),
        removable_bytes=sum(row["keyed_bytes"] - row["kept_bytes"] for row in keys),
        tombstones=sum(row["deleted_keys"] for row in keys),
        tombstone_bytes=sum(row["deleted_bytes"] for row in keys),
    )


def _heat_map(topic: str, counted: Counted) -> HeatMap:
    counts = {(row["day"], row["hour"]): row["messages"] for row in counted.heat_map.get(topic, ())}
    return heat_map(counts, weekly=topic in counted.weekly)
