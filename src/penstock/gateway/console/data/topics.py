"""``/topics``: what there is, how large and how busy, and making new ones."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.asking import Asking
from penstock.gateway.console.data.confirmed import Confirmed, check_confirmed
from penstock.gateway.rest.topics.topics import PARTITIONS_MAX, REPLICAS_MAX
from penstock.model.ids import TopicPartition
from penstock.model.names import check_topic_name
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from penstock.wire.messages.metadata import MetadataResponseTopic
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import Leaders, offsets_at

Numbers = Mapping[TopicPartition, int | None]


class NewTopicBody(BaseModel):
    """A topic to make; what is left out is the brokers' default."""

    name: str
    partitions: int | None = Field(default=None, ge=1, le=PARTITIONS_MAX)
    replication_factor: int | None = Field(default=None, ge=1, le=REPLICAS_MAX)
    config: dict[str, str] = Field(default_factory=dict)


class PartitionsBody(BaseModel):
    """How many partitions a topic shall have."""

    total: int = Field(ge=1, le=PARTITIONS_MAX)


def router(console: Console) -> APIRouter:
    """The routes of topics."""
    routes = APIRouter()

    @routes.get("/topics")
    def topics() -> dict[str, Any]:
        """All topics in numbers."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            found = sorted(cluster.metadata(None).topics, key=lambda each: each.name or "")
            leaders = leaders_of(found)
            sizes = partition_bytes(cluster, leaders)
            retained = asking.told(lambda: retained_records(cluster, leaders))
        rates = console.sampler.topic_rates()
        return {
            "topics": [_line(topic, sizes, retained, rates.get(topic.name or "")) for topic in found],
            "notes": asking.notes,
        }

    @routes.post("/topics", status_code=201)
    def create(body: NewTopicBody) -> dict[str, Any]:
        """Make a topic."""
        check_topic_name(body.name)
        console.kafka.admin.create_topic(
            body.name,
            partitions=body.partitions,
            replication_factor=body.replication_factor,
            config=body.config,
        )
        console.kafka.topics.wait_known(body.name)
        return {"name": body.name}

    @routes.post("/topics/{topic:name}/partitions")
    def grow(topic: str, body: PartitionsBody) -> dict[str, Any]:
        """Give a topic more partitions; keys may go to other ones from then on."""
        check_topic_name(topic)
        console.kafka.admin.add_partitions(topic, body.total)
        return {"name": topic, "partitions": body.total}

    @routes.delete("/topics/{topic:name}")
    def delete(topic: str, body: Confirmed) -> dict[str, Any]:
        """Delete a topic and all that is in it."""
        check_confirmed(body, topic, doing=f"delete topic {topic!r}")
        console.kafka.admin.delete_topics(topic)
        return {"name": topic}

    return routes


def leaders_of(topics: list[MetadataResponseTopic]) -> Leaders:
    """Who leads each partition, -1 for nobody."""
    return {
        TopicPartition(topic.name or "", each.partition_index): each.leader_id
        for topic in topics
        for each in topic.partitions
    }


def retained_records(cluster: Cluster, leaders: Leaders) -> dict[TopicPartition, int | None]:
    """How many offsets each log spans: its records, where none were compacted away or are markers."""
    starts = offsets_at(cluster, dict.fromkeys(leaders, EARLIEST_TIMESTAMP), leaders=leaders)
    ends = offsets_at(cluster, dict.fromkeys(leaders, LATEST_TIMESTAMP), leaders=leaders)
    return {where: _difference(starts[where], ends[where]) for where in leaders}


def _line(
    topic: MetadataResponseTopic, sizes: Numbers, retained: Numbers | None, rate: float | None
) -> dict[str, Any]:
    numbers = [TopicPartition(topic.name or "", each.partition_index) for each in topic.partitions]
    replicas = {len(each.replica_nodes) for each in topic.partitions}
    return {
        "name": topic.name,
        "is_internal": topic.is_internal,
        "partitions": len(topic.partitions),
        "replication_factor": max(replicas, default=0),
        "under_replicated": sum(len(each.isr_nodes) < len(each.replica_nodes) for each in topic.partitions),
        "offline": sum(each.leader_id < 0 for each in topic.partitions),
        "bytes": total(sizes, numbers),
        "messages": None if retained is None else total(retained, numbers),
        "rate": rate,
    }


def total(numbers: Numbers, wanted: list[TopicPartition]) -> int | None:
    """The sum of what is known of these partitions, None where nothing is."""
    known = [number for where in wanted if (number := numbers.get(where)) is not None]
    return sum(known) if known else None


def _difference(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start
