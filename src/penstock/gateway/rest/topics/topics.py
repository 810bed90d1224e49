"""Topics: the list of them, and one of them made, shown and deleted."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from penstock.client import NewTopic
from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.parameters import TOPIC_NAME, TopicName
from penstock.gateway.rest.topics.partitions import ShownPartition, shown_partitions
from penstock.model.ids import ZERO_TOPIC_ID, uuid_to_text
from penstock.wire.messages.metadata import MetadataResponseTopic
from penstock.wire_client.cluster import PASSING
from penstock.wire_client.errors import check
from penstock.wire_client.topics import ABSENT

PARTITIONS_MAX = 100_000
REPLICAS_MAX = 1_000


class ListedTopic(BaseModel):
    """One line of the list."""

    name: str
    topic_id: str | None
    partitions: int
    replication_factor: int
    is_internal: bool
    under_replicated: int
    """Partitions of which a replica is behind."""


class ShownTopic(ListedTopic):
    """A topic with its partitions."""

    details: list[ShownPartition]


class TopicWish(BaseModel):
    """What a new topic is to be like; what is left out is the brokers' default."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"partitions": 4, "config": {"retention.ms": "604800000"}}},
    )

    partitions: int | None = Field(default=None, ge=1, le=PARTITIONS_MAX)
    replication_factor: int | None = Field(default=None, ge=1, le=REPLICAS_MAX)
    config: dict[str, str] = {}
    dry_run: bool = False
    """Only say whether it could be made."""


class NamedTopicWish(TopicWish):
    """The same with its name."""

    name: Annotated[str, Field(pattern=TOPIC_NAME)]


def topic_router(gateway: Gateway) -> APIRouter:
    """The routes about topics as a whole."""
    routes = APIRouter()

    @routes.get("/topics")
    def list_topics(
        internal: Annotated[bool, Query(description="Whether the cluster's own topics are listed.")] = False,
    ) -> list[ListedTopic]:
        """All topics, by name."""
        with gateway.kafka.cluster() as cluster:
            found = cluster.metadata(None).topics
        listed = [_listed(each) for each in found if internal or not _is_internal(each)]
        return sorted(listed, key=lambda each: each.name)

    @routes.post("/topics", status_code=201)
    def create_named_topic(wish: NamedTopicWish) -> ListedTopic:
        """Make a topic."""
        return _create(gateway, wish.name, wish)

    @routes.get("/topics/{topic:name}")
    def show_topic(topic: TopicName) -> ShownTopic:
        """A topic: who has its partitions, and which offsets they hold."""
        found = _find(gateway, topic)
        return ShownTopic(**dict(_listed(found)), details=shown_partitions(gateway, topic))

    @routes.post("/topics/{topic:name}", status_code=201)
    def create_topic(topic: TopicName, wish: TopicWish | None = None) -> ListedTopic:
        """Make a topic of that name."""
        return _create(gateway, topic, wish or TopicWish())

    @routes.delete("/topics/{topic:name}", status_code=204)
    def delete_topic(topic: TopicName) -> None:
        """Delete a topic and all that is in it, for ever."""
        gateway.kafka.admin.delete_topics(topic)
        gateway.kafka.topics.forget(topic)

    return routes


def _create(gateway: Gateway, name: str, wish: TopicWish) -> ListedTopic:
    new = NewTopic(
        name=name,
        partitions=wish.partitions,
        replication_factor=wish.replication_factor,
        config=wish.config,
    )
    gateway.kafka.admin.create_topics([new], validate_only=wish.dry_run)
    if wish.dry_run:
        return ListedTopic(
            name=name,
            topic_id=None,
            partitions=wish.partitions or 0,
            replication_factor=wish.replication_factor or 0,
            is_internal=False,
            under_replicated=0,
        )
    gateway.kafka.topics.wait_known(name)
    return _listed(_find(gateway, name))


def _find(gateway: Gateway, name: str) -> MetadataResponseTopic:
    with gateway.kafka.cluster() as cluster:
        (found,) = cluster.metadata([name]).topics
    if found.error_code in ABSENT:
        raise GatewayError(
            404, f"There is no topic {name!r}.", error_code=40401, error="UNKNOWN_TOPIC_OR_PARTITION"
        )
    if found.error_code not in PASSING:
        check(found.error_code, doing=f"describe topic {name!r}")
    return found


def _is_internal(found: MetadataResponseTopic) -> bool:
    return found.is_internal or (found.name or "").startswith("__")


def _listed(found: MetadataResponseTopic) -> ListedTopic:
    return ListedTopic(
        name=found.name or "",
        topic_id=None if found.topic_id == ZERO_TOPIC_ID else uuid_to_text(found.topic_id),
        partitions=len(found.partitions),
        replication_factor=max((len(each.replica_nodes) for each in found.partitions), default=0),
        is_internal=_is_internal(found),
        under_replicated=sum(len(each.isr_nodes) < len(each.replica_nodes) for each in found.partitions),
    )
