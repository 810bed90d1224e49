"""BrokerRegistration (key 62): a started broker makes itself known to the controller.

Flexible from the start. Version notes: 1 migration (of no use here); 2 log directories; 3 the epoch before a
clean stop; 4 features whose lowest level is 0.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING, TOPIC_ID, UINT16, UUID
from penstock.wire.schema import Struct, array, field, nullable

LOST_PARTITIONS_TAG = 10_000
"""Ours, far above Kafka's own tags; whoever does not know it skips it."""


class Listener(Struct):
    """An address the broker listens on."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)
    security_protocol: int = field(INT16)


class Feature(Struct):
    """A range of levels of a feature that the broker can live with."""

    name: str = field(STRING)
    min_supported_version: int = field(INT16)
    max_supported_version: int = field(INT16)


class LostPartitions(Struct):
    """Partitions of a topic whose log may lack something that it once had on disk."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[int, ...] = array(INT32)


class BrokerRegistrationRequest(Struct):
    """Here I am, in a new process."""

    broker_id: int = field(INT32)
    cluster_id: str = field(STRING)
    incarnation_id: bytes = field(UUID)
    listeners: tuple[Listener, ...] = array(Listener)
    features: tuple[Feature, ...] = array(Feature)
    rack: str | None = nullable(STRING)
    is_migrating_zk_broker: bool = field(BOOLEAN, "1+")
    log_dirs: tuple[bytes, ...] = array(UUID, "2+")
    previous_broker_epoch: int = field(INT64, "3+", default=-1)
    lost_partitions: tuple[LostPartitions, ...] = array(LostPartitions, tag=LOST_PARTITIONS_TAG)


class BrokerRegistrationResponse(Struct):
    """The epoch that tells this process from all before it."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    broker_epoch: int = field(INT64, default=-1)
