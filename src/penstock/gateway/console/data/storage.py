"""Storage: how large topics are, and what their messages are like."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from penstock.analysis.partition_analysis import PartitionAnalysis, sum_up
from penstock.analysis.record_statistics import RecordStatistics
from penstock.gateway.console.console import Console
from penstock.gateway.console.messages.topic_ranges import topic_ranges
from penstock.gateway.console.storage.heat_map import heat_map
from penstock.gateway.console.storage.sample import MESSAGES_MAX, Sample, take_sample
from penstock.model.ids import TopicPartition
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import find_leaders

TOP_KEYS_MAX = 12


def router(console: Console) -> APIRouter:
    """The routes of storage."""
    routes = APIRouter(prefix="/storage")

    @routes.get("")
    def sizes() -> dict[str, Any]:
        """The bytes of every topic on the disks of its leaders; null for what no broker tells."""
        with console.kafka.cluster() as cluster:
            leaders = find_leaders(cluster)
            found = partition_bytes(cluster, leaders)
        topics: dict[str, list[int | None]] = {}
        for partition in leaders:
            topics.setdefault(partition.topic, []).append(found.get(partition))
        return {"topics": [_told_size(topic, sizes) for topic, sizes in sorted(topics.items())]}

    @routes.get("/{topic:name}")
    def analysis(
        topic: str, messages: Annotated[int, Query(ge=100, le=MESSAGES_MAX)] = 100_000
    ) -> dict[str, Any]:
        """Sizes, compression, keys and times, of the newest messages of a topic."""
        with console.kafka.cluster() as cluster:
            held = topic_ranges(cluster, topic, is_read_committed=False)
            leaders = find_leaders(cluster, [topic])
            sizes = partition_bytes(cluster, leaders)
            sample = take_sample(cluster, topic, held, messages_max=messages)
        return _told_analysis(sample, sizes)

    return routes


def _told_size(topic: str, sizes: list[int | None]) -> dict[str, Any]:
    known = [size for size in sizes if size is not None]
    is_told = len(known) == len(sizes)
    return {
        "topic": topic,
        "is_internal": topic.startswith("_"),
        "partitions": len(sizes),
        "bytes": sum(known) if is_told else None,
        "largest_bytes": max(known, default=0) if is_told else None,
        "partition_bytes": sizes,
    }


def _told_analysis(sample: Sample, sizes: dict[TopicPartition, int]) -> dict[str, Any]:
    whole = sum_up(sample.topic, sample.partitions.values())
    statistics = whole.statistics
    return {
        "topic": sample.topic,
        "sample": {
            "messages": statistics.message_count,
            "offsets": sample.offsets_read,
            "offsets_held": sample.offsets_held,
            "is_whole": sample.offsets_read >= sample.offsets_held,
            "stopped": sample.stopped or None,
        },
        **statistics.as_json(top_max=TOP_KEYS_MAX),
        "size_powers": [[power, count] for power, count in statistics.sizes.by_power().items()],
        "heat": heat_map({number: each.statistics.timeline for number, each in sample.partitions.items()}),
        "partitions": [_told_partition(each, sizes.get(each.partition), sample) for each in whole.partitions],
        "notes": [note for each in whole.partitions for note in each.notes],
    }


def _told_partition(analysis: PartitionAnalysis, size: int | None, sample: Sample) -> dict[str, Any]:
    statistics: RecordStatistics = analysis.statistics
    held = sample.held[analysis.partition.partition]
    return {
        "partition": analysis.partition.partition,
        "stored_bytes": size,
        "start": held.start,
        "end": held.end,
        "messages": statistics.message_count,
        "mean_bytes": round(statistics.sizes.mean, 1),
        "ratio": round(statistics.codecs.total.ratio, 3),
        "keys": statistics.keys.distinct_count,
    }
