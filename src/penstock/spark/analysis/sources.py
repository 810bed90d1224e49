"""Where records to analyse come from: the files of a broker, brokers themselves, or an archive.

``partitions`` are all that are asked for, also those without a record.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.analysis.partition_analysis import FileTotals
from penstock.analysis.stored_partition import StoredPartition, find_partitions
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.analysis.facts import STORED_COLUMNS, facts_of_archived, facts_of_stored
from penstock.spark.segments.schema import segments_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSource:
    """Facts, and whose they are."""

    description: str
    partitions: Sequence[TopicPartition]
    facts: "DataFrame"
    files: Mapping[TopicPartition, FileTotals] = field(default_factory=dict)
    """Where files were looked at."""


def from_directory(
    spark: "SparkSession", data_directory: str, topics: Collection[str] = (), *, internal: bool = False
) -> AnalysisSource:
    """All that lies in a broker's data directory, which every worker of Spark must see; it is only read."""
    from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

    found = list(find_partitions(ReadOnlyFileSystem(), data_directory))
    names = chosen_topics({one.partition.topic for one in found}, topics, internal=internal)
    stored = [one for one in found if one.partition.topic in names]
    return _stored_source(
        spark,
        {"path": data_directory, "subscribe": ",".join(names)},
        description=f"the files in {data_directory}",
        partitions=[one.partition for one in stored],
        files={one.partition: _totals(one) for one in stored},
    )


def from_brokers(
    spark: "SparkSession",
    topics: Collection[str] = (),
    *,
    options: Mapping[str, str],
    internal: bool = False,
) -> AnalysisSource:
    """What a cluster holds at present; ``options`` are ``kafka.bootstrap.servers`` and others like it."""
    from penstock.spark.options.source_options import batch_options
    from penstock.spark.reading.clusters import borrowed_cluster
    from penstock.wire_client.topics import find_leaders

    given = {**options, "subscribe": ",".join(topics) or "any"}
    with borrowed_cluster(batch_options(given).client) as cluster:
        leaders = find_leaders(cluster, topics or None)
    names = chosen_topics({one.topic for one in leaders}, topics, internal=internal)
    return _stored_source(
        spark,
        {**options, "subscribe": ",".join(names)},
        description=f"brokers at {options['kafka.bootstrap.servers']}",
        partitions=sorted(one for one in leaders if one.topic in names),
        files={},
    )


def from_archive(spark: "SparkSession", path: str, topics: Collection[str] = ()) -> AnalysisSource:
    """What an archive holds; it knows of no batches, so nothing is told of them."""
    from penstock.spark.archive import read
    from penstock.spark.archive.reading import load
    from penstock.spark.archive.stores.opening import open_store

    state = load(open_store(path, spark))
    names = chosen_topics(set(state.topics), topics, internal=True)
    rows = read(spark, path, topics=names)
    partitions = {
        TopicPartition(file.topic, number)
        for file in state.files.values()
        if file.topic in names
        for number in file.spans
    }
    return AnalysisSource(
        description=f"the archive {path}",
        partitions=sorted(partitions),
        facts=facts_of_archived(rows),
    )


def chosen_topics(there: Collection[str], asked: Collection[str], *, internal: bool) -> list[str]:
    """The topics that were asked for, or all; it is a mistake to ask for one that is not there."""
    for topic in asked:
        if topic not in there:
            raise UsageError(f"There is no topic {topic!r}: leave the name out to see all that there are.")
    return sorted(asked or (one for one in there if internal or not one.startswith("__")))


def _stored_source(
    spark: "SparkSession",
    options: Mapping[str, str],
    *,
    description: str,
    partitions: Sequence[TopicPartition],
    files: Mapping[TopicPartition, FileTotals],
) -> AnalysisSource:
    if partitions:
        reader = spark.read.format("penstock-segments").schema(segments_ddl(STORED_COLUMNS))
        rows = reader.options(**options, includeControlRecords="true").load()
    else:
        rows = spark.createDataFrame([], segments_ddl(STORED_COLUMNS))
    return AnalysisSource(
        description=description,
        partitions=partitions,
        facts=facts_of_stored(rows),
        files=files,
    )


def _totals(stored: StoredPartition) -> FileTotals:
    return FileTotals(
        files=stored.file_count,
        segments=len(stored.segments),
        bytes=stored.file_bytes,
        index_bytes=sum(segment.index_bytes for segment in stored.segments),
    )
