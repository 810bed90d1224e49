"""A broker, as one image of the cluster has it."""

from dataclasses import dataclass, replace

from penstock.metadata.records import (
    FENCE,
    UNFENCE,
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
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
    features: tuple[BrokerFeature, ...] = ()
    #: About to stop: leads nothing any more, and joins no in-sync set.
    is_in_controlled_shutdown: bool = False
    #: Directories that get no new replicas.
    cordoned_directories: tuple[bytes, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions and be in sync."""
        return not self.is_fenced and not self.is_in_controlled_shutdown

    @property
    def is_cordoned(self) -> bool:
        """Whether it gets no new replicas, since it is being emptied (KIP-1066)."""
        return bool(self.directories) and set(self.directories) <= set(self.cordoned_directories)

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
        features=record.features,
        is_in_controlled_shutdown=record.in_controlled_shutdown,
        cordoned_directories=record.cordoned_log_dirs or (),
    )


def changed_broker(old: BrokerImage, record: BrokerRegistrationChangeRecord) -> BrokerImage:
    """The broker after a change."""
    cordoned = record.cordoned_log_dirs
    return replace(
        old,
        is_fenced={FENCE: True, UNFENCE: False}.get(record.fenced, old.is_fenced),
        is_in_controlled_shutdown=old.is_in_controlled_shutdown or record.in_controlled_shutdown > 0,
        directories=record.log_dirs or old.directories,
        cordoned_directories=old.cordoned_directories if cordoned is None else cordoned,
    )
