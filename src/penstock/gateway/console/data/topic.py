"""``/topics/{topic:name}``: one topic with its partitions, its settings, and the groups that read it."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.asking import Asking
from penstock.gateway.console.data.config_shape import configs_as_json
from penstock.gateway.console.data.topics import Numbers, leaders_of, total
from penstock.gateway.errors import GatewayError
from penstock.model.ids import TopicPartition
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from penstock.wire.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.configs import alter_configs, describe_config, topic_resource
from penstock.wire_client.errors import check
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import ABSENT, Leaders, offsets_at


class ConfigChanges(BaseModel):
    """New values of settings; null goes back to the default."""

    changes: dict[str, str | None]
    validate_only: bool = False


def router(console: Console) -> APIRouter:
    """The routes of one topic."""
    routes = APIRouter()

    @routes.get("/topics/{topic:name}")
    def one(topic: str) -> dict[str, Any]:
        """Its partitions, rates and sizes over time, and who reads it."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            found = found_topic(cluster, topic)
            leaders = leaders_of([found])
            sizes = partition_bytes(cluster, leaders)
            starts = asking.told(lambda: _offsets(cluster, leaders, EARLIEST_TIMESTAMP))
            ends = asking.told(lambda: _offsets(cluster, leaders, LATEST_TIMESTAMP))
        lines = _Lines(console, sizes=sizes, starts=starts or {}, ends=ends or {})
        partitions = sorted(found.partitions, key=lambda each: each.partition_index)
        return {
            "name": topic,
            "is_internal": found.is_internal,
            "partitions": [lines.line(topic, each) for each in partitions],
            "bytes": total(sizes, list(leaders)),
            "rate": console.sampler.topic_rates().get(topic),
            "messages_per_second": console.sampler.messages(topic),
            "stored_bytes": console.sampler.sizes(topic),
            "groups": _groups(console, topic),
            "notes": asking.notes,
        }

    @routes.get("/topics/{topic:name}/config")
    def config(topic: str) -> dict[str, Any]:
        """Every setting, with what is overridden and what would hold otherwise."""
        with console.kafka.cluster() as cluster:
            found_topic(cluster, topic)
            return {"configs": configs_as_json(describe_config(cluster, topic_resource(topic)))}

    @routes.patch("/topics/{topic:name}/config")
    def change(topic: str, body: ConfigChanges) -> dict[str, Any]:
        """Change some settings and leave the others."""
        with console.kafka.cluster() as cluster:
            changes = {topic_resource(topic): body.changes}
            alter_configs(cluster, changes, validate_only=body.validate_only)
            return {"configs": configs_as_json(describe_config(cluster, topic_resource(topic)))}

    return routes


def found_topic(cluster: Cluster, topic: str) -> MetadataResponseTopic:
    """The topic as the metadata has it; 404 if there is none."""
    (found,) = cluster.metadata([topic]).topics
    if found.error_code in ABSENT:
        raise GatewayError(
            404, f"There is no topic {topic!r}.", error_code=40401, error="UNKNOWN_TOPIC_OR_PARTITION"
        )
    if found.error_code not in PASSING:
        check(found.error_code, doing=f"read the metadata of topic {topic!r}")
    return found


def _offsets(cluster: Cluster, leaders: Leaders, at: int) -> Numbers:
    return offsets_at(cluster, dict.fromkeys(leaders, at), leaders=leaders)


class _Lines:
    """What is known of partitions, put together for each."""

    def __init__(self, console: Console, *, sizes: Numbers, starts: Numbers, ends: Numbers) -> None:
        self._rates = console.sampler.partition_rates()
        self._sizes = sizes
        self._starts = starts
        self._ends = ends

    def line(self, topic: str, partition: MetadataResponsePartition) -> dict[str, Any]:
        where = TopicPartition(topic, partition.partition_index)
        return {
            "partition": partition.partition_index,
            "leader": None if partition.leader_id < 0 else partition.leader_id,
            "replicas": list(partition.replica_nodes),
            "isr": list(partition.isr_nodes),
            "start_offset": self._starts.get(where),
            "end_offset": self._ends.get(where),
            "bytes": self._sizes.get(where),
            "rate": self._rates.get(where),
        }


def _groups(console: Console, topic: str) -> list[dict[str, Any]]:
    newest = console.sampler.newest
    if newest is None:
        return []
    return [{"group": group, "lag": newest.lag_in(group, topic)} for group in newest.groups_of(topic)]
