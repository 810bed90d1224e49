"""``/cluster`` and ``/brokers``: who is there."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.wire_client.cluster_description import BrokerDescription, ClusterDescription, describe_cluster


class ShownBroker(BaseModel):
    """A broker; what it does not tell is null."""

    broker: int
    host: str | None
    port: int | None
    rack: str | None
    state: str
    is_controller: bool
    quorum_role: str | None
    leaders: int
    """Partitions that it leads."""
    replicas: int
    in_sync: int
    disk_bytes: int | None


class ShownCluster(BaseModel):
    """The cluster as a whole."""

    cluster_id: str | None
    controller: int | None
    brokers: int
    """How many are up."""
    topics: int
    partitions: int
    under_replicated: int
    leaderless: int
    notes: list[str]
    """What could not be found out."""


def cluster_router(gateway: Gateway) -> APIRouter:
    """The routes about the cluster and its brokers."""
    routes = APIRouter(tags=["cluster"])

    @routes.get("/cluster")
    def show_cluster() -> ShownCluster:
        """How the cluster is."""
        found = _described(gateway)
        return ShownCluster(
            cluster_id=found.cluster_id,
            controller=found.controller,
            brokers=sum(each.state == "up" for each in found.brokers),
            topics=len({each.where.topic for each in found.partitions}),
            partitions=len(found.partitions),
            under_replicated=sum(each.is_under_replicated for each in found.partitions),
            leaderless=sum(each.leader < 0 for each in found.partitions),
            notes=list(found.notes),
        )

    @routes.get("/brokers")
    def list_brokers() -> list[ShownBroker]:
        """All brokers that the cluster knows."""
        return [_shown(each) for each in _described(gateway).brokers]

    @routes.get("/brokers/{broker}")
    def show_broker(
        broker: Annotated[int, Path(description="The broker's number.", examples=[1])],
    ) -> ShownBroker:
        """One broker."""
        found = _described(gateway).broker(broker)
        if found is None:
            raise GatewayError(404, f"There is no broker {broker}.", error_code=40404)
        return _shown(found)

    return routes


def _described(gateway: Gateway) -> ClusterDescription:
    with gateway.kafka.cluster() as cluster:
        return describe_cluster(cluster)


def _shown(found: BrokerDescription) -> ShownBroker:
    return ShownBroker(
        broker=found.broker,
        host=None if found.address is None else found.address.host,
        port=None if found.address is None else found.address.port,
        rack=found.rack,
        state=str(found.state),
        is_controller=found.is_controller,
        quorum_role=None if found.quorum_role is None else str(found.quorum_role),
        leaders=found.leaders,
        replicas=found.replicas,
        in_sync=found.in_sync,
        disk_bytes=None if found.disks is None else found.disks.bytes,
    )
