"""Offsets of a topic's partitions: at their ends, or at a moment."""

from fastapi import APIRouter
from pydantic import BaseModel

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.parameters import (
    From,
    Isolation,
    IsolationLevel,
    PartitionNumber,
    Timestamp,
    TopicName,
)
from penstock.gateway.rest.records.start import Start, begin


class ShownOffset(BaseModel):
    """An offset of a partition."""

    partition: int
    offset: int


def offsets_router(gateway: Gateway) -> APIRouter:
    """The route about offsets."""
    routes = APIRouter()

    @routes.get("/topics/{topic:name}/offsets")
    def list_offsets(
        topic: TopicName,
        partition: PartitionNumber = None,
        timestamp: Timestamp = None,
        begin_at: From = None,
        isolation: IsolationLevel = Isolation.READ_UNCOMMITTED,
    ) -> list[ShownOffset]:
        """The offset of the first record not older than a moment, or of one of the two ends."""
        if timestamp is None and begin_at is None:
            raise GatewayError(422, "Say which offsets: from=earliest, from=latest, or a timestamp.")
        start = Start(partition=partition, timestamp_ms=timestamp, end=begin_at)
        with gateway.kafka.cluster() as cluster:
            found = begin(
                cluster, topic, start, is_read_committed=isolation is Isolation.READ_COMMITTED
            ).positions
        return [ShownOffset(partition=number, offset=offset) for number, offset in sorted(found.items())]

    return routes
