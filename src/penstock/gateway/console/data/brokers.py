"""``/brokers``: who is there, what each holds, and how the quorum stands."""

from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.asking import Asking
from penstock.gateway.console.data.broker_shape import broker_as_json
from penstock.gateway.console.data.config_shape import configs_as_json
from penstock.gateway.errors import GatewayError
from penstock.wire_client.cluster_description import (
    BrokerDescription,
    ClusterDescription,
    PartitionDescription,
    describe_cluster,
)
from penstock.wire_client.configs import broker_resource, describe_config


def router(console: Console) -> APIRouter:
    """The routes of brokers."""
    routes = APIRouter()

    @routes.get("/brokers")
    def brokers() -> dict[str, Any]:
        """All brokers, and the quorum that decides on metadata; null where a cluster does not tell of one."""
        with console.kafka.cluster() as cluster:
            described = describe_cluster(cluster)
        return {
            "cluster_id": described.cluster_id,
            "controller": described.controller,
            "brokers": [broker_as_json(broker) for broker in described.brokers],
            "quorum": None if described.quorum is None else described.quorum.as_json(),
            "notes": list(described.notes),
        }

    @routes.get("/brokers/{broker_id}")
    def broker(broker_id: int) -> dict[str, Any]:
        """One broker: its partitions and settings."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            described = describe_cluster(cluster)
            found = _found(described, broker_id)
            configs = asking.told(lambda: describe_config(cluster, broker_resource(broker_id)))
        return {
            **broker_as_json(found),
            "partitions": _partitions(described, found),
            "configs": None if configs is None else configs_as_json(configs),
            "notes": [*described.notes, *asking.notes],
        }

    return routes


def _found(described: ClusterDescription, broker_id: int) -> BrokerDescription:
    found = described.broker(broker_id)
    if found is None:
        known = ", ".join(str(each.broker) for each in described.brokers)
        raise GatewayError(404, f"There is no broker {broker_id}; there are {known}.", error_code=40403)
    return found


def _partitions(described: ClusterDescription, broker: BrokerDescription) -> list[dict[str, Any]]:
    return [
        _replica(partition, broker)
        for partition in described.partitions
        if broker.broker in partition.replicas
    ]


def _replica(partition: PartitionDescription, broker: BrokerDescription) -> dict[str, Any]:
    return {
        "topic": partition.where.topic,
        "partition": partition.where.partition,
        "is_leader": partition.leader == broker.broker,
        "is_in_sync": broker.broker in partition.isr,
        "bytes": None if broker.disks is None else broker.disks.sizes.get(partition.where),
    }
