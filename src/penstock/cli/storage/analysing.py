"""Where an analysis gets its batches from: a data directory, or a cluster."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from penstock.analysis.key_counts import keys_per_partition
from penstock.analysis.partition_analysis import (
    PartitionAnalysis,
    TopicAnalysis,
    analyse_partition,
    sum_up,
)
from penstock.analysis.record_statistics import RecordStatistics
from penstock.analysis.stored_partition import StoredPartition, find_partitions
from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.progress import advancing
from penstock.model.ids import TopicPartition
from penstock.records.batch import crc_matches
from penstock.records.errors import CorruptBatchError
from penstock.storage.filesystem import FileSystem
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchedBatch, Fetching, OffsetRange, stored_ranges
from penstock.wire_client.topics import find_leaders

KEYS_TOTAL_MAX = 1_000_000
"""Remembered by all partitions together."""

_NAME_A_DIRECTORY = (
    "Name the directory that a broker was given with --data-dir; "
    "of several on this machine, one of its node-1, node-2, ... or worker-1, worker-2, ..."
)


def stored_partitions(
    filesystem: FileSystem, data_directory: str, topics: Collection[str], *, internal: bool
) -> list[StoredPartition]:
    """The partitions of these topics, or of all; a topic that is not there fails the command."""
    if not filesystem.is_directory(data_directory):
        message = f"There is no directory {data_directory}."
        raise CommandFailed(message, hint=_NAME_A_DIRECTORY, code=ExitCode.USAGE)
    found = list(find_partitions(filesystem, data_directory))
    if not found:
        raise CommandFailed(f"{data_directory} holds no partitions.", hint=_NAME_A_DIRECTORY)
    require_topics(topics, {each.partition.topic for each in found}, f"in {data_directory}")
    return [each for each in found if _is_wanted(each.partition.topic, topics, internal=internal)]


def analyse_directory(filesystem: FileSystem, partitions: Collection[StoredPartition]) -> list[TopicAnalysis]:
    """Read all of these, under a bar on a terminal."""
    keys_max = keys_per_partition(len(partitions), total_max=KEYS_TOTAL_MAX)
    total = sum(each.log_bytes for each in partitions)
    with advancing("Reading batches", total, unit="bytes") as advance:
        return _by_topic(
            analyse_partition(filesystem, each, keys_max=keys_max, progress=advance) for each in partitions
        )


def analyse_cluster(cluster: Cluster, topics: Collection[str], *, internal: bool) -> list[TopicAnalysis]:
    """Fetch everything that these topics hold at present, under a bar on a terminal."""
    leaders = find_leaders(cluster, topics or None)
    require_topics(topics, {partition.topic for partition in leaders}, "in the cluster")
    wanted = [each for each in leaders if _is_wanted(each.topic, topics, internal=internal)]
    ranges = stored_ranges(cluster, wanted)
    keys_max = keys_per_partition(len(wanted), total_max=KEYS_TOTAL_MAX)
    found = {
        each: PartitionAnalysis(partition=each, statistics=RecordStatistics(keys_max=keys_max))
        for each in wanted
    }
    for partition in wanted:
        if partition not in ranges:
            found[partition].note(f"Nobody leads {partition} at present; nothing of it is counted.")
    _fetch_all(cluster, ranges, found)
    return _by_topic(found.values())


def _fetch_all(
    cluster: Cluster,
    ranges: dict[TopicPartition, OffsetRange],
    found: dict[TopicPartition, PartitionAnalysis],
) -> None:
    fetching = Fetching(cluster, ranges)
    with advancing("Fetching records", sum(each.end - each.start for each in ranges.values())) as advance:
        try:
            for batch in fetching.batches():
                _add(found[batch.partition], batch)
                advance(batch.header.last_offset_delta + 1)
        except CorruptBatchError as error:
            raise CommandFailed(
                f"What the cluster sent cannot be read: {error}",
                hint="Formats older than that of Kafka 0.11 are not known here.",
            ) from error
    for partition, offset in fetching.missed.items():
        found[partition].note(
            f"From offset {offset} on nothing came; {ranges[partition].end - offset} offsets are not counted."
        )


def _add(analysis: PartitionAnalysis, batch: FetchedBatch) -> None:
    header = batch.header
    analysis.saw(header.base_offset, header.next_offset)
    if not crc_matches(batch.buffer, header, batch.at):
        analysis.note(
            f"The batch at offset {header.base_offset} is not counted: its checksum does not match."
        )
        return
    try:
        analysis.statistics.add_batch(batch.buffer, header, batch.at)
    except CorruptBatchError as error:
        analysis.note(f"The batch at offset {header.base_offset} is not counted: {error.message}")


def require_topics(wanted: Collection[str], existing: Collection[str], where: str) -> None:
    """Fail the command if a topic that was named does not exist."""
    for topic in wanted:
        if topic not in existing:
            raise CommandFailed(
                f"There is no topic {topic!r} {where}.", hint="Leave the name out to see all that there are."
            )


def _is_wanted(topic: str, topics: Collection[str], *, internal: bool) -> bool:
    """Whether it was named; of those that brokers keep for themselves, only if asked for."""
    return topic in topics if topics else internal or not topic.startswith("__")


def _by_topic(partitions: Iterable[PartitionAnalysis]) -> list[TopicAnalysis]:
    grouped: dict[str, list[PartitionAnalysis]] = defaultdict(list)
    for each in partitions:
        grouped[each.partition.topic].append(each)
    return [sum_up(topic, each) for topic, each in sorted(grouped.items())]
