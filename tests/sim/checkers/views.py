"""Looks into brokers, made up for watchers."""

from collections.abc import Sequence
from typing import Any

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import PartitionRecord, TopicRecord
from penstock.model.ids import TopicId
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.checkers.watching import Look, MetadataView, PartitionView

TOPIC_ID = TopicId(bytes(15) + b"\x07")


def batch(offset: int, value: str) -> bytes:
    return bytes(build_batch([NewRecord(value=value.encode(), timestamp=1)], base_offset=offset))


def view(node: str = "a", *, values: str = "", **changes: Any) -> PartitionView:
    """A replica; the bytes of its log are one batch for each of the values."""
    batches = [batch(offset, value) for offset, value in enumerate(values)]
    facts: dict[str, Any] = {
        "boot": 1,
        "life": 1,
        "node_id": ord(node) - ord("a") + 1,
        "topic_id": TOPIC_ID,
        "topic": "o",
        "index": 0,
        "is_leader": node == "a",
        "leader_epoch": 1,
        "partition_epoch": 1,
        "in_sync_count": 2,
        "in_sync_min": 2,
        "failure": None,
        "log_start_offset": 0,
        "last_stable_offset": 1,
        "high_watermark": 2,
        "flushed_offset": 2,
        "log_end_offset": 3,
        "cleaned_offset": 0,
        "is_leaving": False,
        "read": lambda start, end: b"".join(batches[start:end]),
        **changes,
    }
    return PartitionView(node=node, **facts)


def image(**changes: Any) -> ClusterImage:
    """One topic with one partition on nodes 1, 2 and 3, of which 1 leads."""
    partition = {
        "partition_id": 0,
        "topic_id": TOPIC_ID,
        "replicas": (1, 2, 3),
        "isr": (1, 2),
        "leader": 1,
        "leader_epoch": 1,
        "partition_epoch": 1,
        **changes,
    }
    records = (TopicRecord(name="o", topic_id=TOPIC_ID), PartitionRecord(**partition))
    return ClusterImage().apply(records)


def metadata(node: str = "a", **changes: Any) -> MetadataView:
    facts: dict[str, Any] = {
        "boot": 1,
        "node_id": ord(node) - ord("a") + 1,
        "is_controller": node == "a",
        "term": 4,
        "applied_offset": 9,
        "image": image(),
        **changes,
    }
    return MetadataView(node=node, **facts)


def look(*views: PartitionView, metadata: Sequence[MetadataView] = (), at: float = 1.0) -> Look:
    return Look(at=at, partitions=views, metadata=tuple(metadata))
