"""A broker, as one image of the cluster has it."""

from dataclasses import dataclass

from penstock.metadata.records import BrokerEndpoint, RegisterBrokerRecord
from penstock.model.ids import NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerImage:
    """A registered broker."""

    node_id: NodeId
    #: Grows with every registration of this id; tells one process from the next.
    epoch: int
    incarnation_id: bytes
    endpoints: tuple[BrokerEndpoint, ...]
    rack: str | None
    #: A fenced broker leads nothing and is told to nobody.
    is_fenced: bool
    directories: tuple[bytes, ...]

    def endpoint(self, listener: str) -> BrokerEndpoint | None:
        """The address on a listener, if the broker has that listener."""
        return next((endpoint for endpoint in self.endpoints if endpoint.name == listener), None)


def registered_broker(record: RegisterBrokerRecord) -> BrokerImage:
    """The broker that a record registers."""
    return BrokerImage(
        node_id=NodeId(record.broker_id),
        epoch=record.broker_epoch,
        incarnation_id=record.incarnation_id,
        endpoints=record.end_points,
        rack=record.rack,
        is_fenced=record.fenced,
        directories=record.log_dirs,
    )
