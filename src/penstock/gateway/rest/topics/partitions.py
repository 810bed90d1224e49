"""Partitions of a topic: who has them, which offsets they hold, and more of them."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.parameters import TopicName
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.topics import ABSENT, offsets_at

_EARLIEST = -2
_LATEST = -1
_PARTITIONS_MAX = 100_000


class ShownPartition(BaseModel):
    """A partition; what nobody tells at present is null."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: list[int]
    in_sync_replicas: list[int]
    earliest_offset: int | None
    latest_offset: int | None


class PartitionsWish(BaseModel):
    """How many partitions a topic is to have."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"total": 8}})

    total: int = Field(ge=1, le=_PARTITIONS_MAX)


def partitions_router(gateway: Gateway) -> APIRouter:
    """The routes about partitions."""
    routes = APIRouter()

    @routes.get("/topics/{topic:name}/partitions")
    def list_partitions(topic: TopicName) -> list[ShownPartition]:
        """All partitions of a topic."""
        return shown_partitions(gateway, topic)

    @routes.post("/topics/{topic:name}/partitions")
    def add_partitions(topic: TopicName, wish: PartitionsWish) -> list[ShownPartition]:
        """Give a topic more partitions; keys may go to other partitions from then on."""
        gateway.kafka.admin.add_partitions(topic, wish.total)
        gateway.kafka.topics.forget(topic)
        return shown_partitions(gateway, topic)

    return routes


def shown_partitions(gateway: Gateway, topic: str) -> list[ShownPartition]:
    """All partitions of a topic; 404 if there is none of that name."""
    with gateway.kafka.cluster() as cluster:
        (found,) = cluster.metadata([topic]).topics
        if found.error_code in ABSENT:
            raise GatewayError(
                404, f"There is no topic {topic!r}.", error_code=40401, error="UNKNOWN_TOPIC_OR_PARTITION"
            )
        numbers = sorted(each.partition_index for each in found.partitions)
        starts = _offsets(cluster, topic, numbers, moment=_EARLIEST)
        ends = _offsets(cluster, topic, numbers, moment=_LATEST)
    return [
        ShownPartition(
            partition=each.partition_index,
            leader=None if each.leader_id < 0 else each.leader_id,
            leader_epoch=each.leader_epoch,
            replicas=list(each.replica_nodes),
            in_sync_replicas=list(each.isr_nodes),
            earliest_offset=starts[each.partition_index],
            latest_offset=ends[each.partition_index],
        )
        for each in sorted(found.partitions, key=lambda each: each.partition_index)
    ]


def _offsets(cluster: Cluster, topic: str, numbers: list[int], *, moment: int) -> dict[int, int | None]:
    found = offsets_at(cluster, {TopicPartition(topic, number): moment for number in numbers})
    return {each.partition: offset for each, offset in found.items()}
