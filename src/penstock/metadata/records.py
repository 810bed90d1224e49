"""Metadata records, in the encoding of Kafka's own metadata log (KRaft).

Each is a frame: frame version, record type and version as unsigned varints, then the flexible body. Types and
fields are Kafka's, so that its tools can read the log; only the types Penstock writes are here, each at one
version.
"""

from typing import Any, TypeAlias, cast

from penstock.model.errors import CorruptLogError, DecodeError
from penstock.model.ids import TopicId
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.primitives import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TOPIC_ID,
    UINT16,
    UUID,
    encode_uvarint,
    read_uvarint,
)
from penstock.wire.schema import Field, Struct, array, field, nullable, parse_versions

FRAME_VERSION = 1
NO_LEADER = -1
LEADER_UNCHANGED = -2
_UNCHANGED = -1


class BrokerEndpoint(Struct):
    """An address a broker listens on."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)
    security_protocol: int = field(INT16)


class BrokerFeature(Struct):
    """A range of levels of a feature that a broker can live with."""

    name: str = field(STRING)
    min_supported_version: int = field(INT16)
    max_supported_version: int = field(INT16)


class RegisterBrokerRecord(Struct):
    """A broker has joined, or come back as another process."""

    broker_id: int = field(INT32)
    is_migrating_zk_broker: bool = field(BOOLEAN, "2+")
    incarnation_id: bytes = field(UUID)
    broker_epoch: int = field(INT64)
    end_points: tuple[BrokerEndpoint, ...] = array(BrokerEndpoint)
    features: tuple[BrokerFeature, ...] = array(BrokerFeature)
    rack: str | None = nullable(STRING)
    fenced: bool = field(BOOLEAN, default=True)
    in_controlled_shutdown: bool = field(BOOLEAN, "1+")
    log_dirs: tuple[bytes, ...] = array(UUID, "3+", tag=0)


class TopicRecord(Struct):
    """A topic has been made; its settings and partitions follow."""

    name: str = field(STRING)
    topic_id: TopicId = field(TOPIC_ID)


class PartitionRecord(Struct):
    """A partition has been made."""

    partition_id: int = field(INT32, default=-1)
    topic_id: TopicId = field(TOPIC_ID)
    replicas: tuple[int, ...] = array(INT32)
    isr: tuple[int, ...] = array(INT32)
    removing_replicas: tuple[int, ...] = array(INT32)
    adding_replicas: tuple[int, ...] = array(INT32)
    leader: int = field(INT32, default=NO_LEADER)
    leader_recovery_state: int = field(INT8, tag=0)
    leader_epoch: int = field(INT32, default=-1)
    partition_epoch: int = field(INT32, default=-1)
    directories: tuple[bytes, ...] = array(UUID, "1+")


class ConfigRecord(Struct):
    """A setting of a topic or broker was set, or taken away (null)."""

    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    name: str = field(STRING)
    value: str | None = nullable(STRING)


def _changed_ints(tag: int) -> tuple[int, ...] | None:
    """A tagged list that is null while it stays as it was."""
    always = parse_versions("0+")
    declared = Field(kind=INT32, versions=always, nulls=always, default=None, tag=tag, is_array=True)
    return cast("tuple[int, ...] | None", declared)


class PartitionChangeRecord(Struct):
    """Something about a partition has changed; what is left out stays as it was.

    Naming a leader, even the one there was, begins a new leader epoch.
    """

    partition_id: int = field(INT32, default=-1)
    topic_id: TopicId = field(TOPIC_ID)
    isr: tuple[int, ...] | None = _changed_ints(0)
    leader: int = field(INT32, default=LEADER_UNCHANGED, tag=1)
    replicas: tuple[int, ...] | None = _changed_ints(2)
    removing_replicas: tuple[int, ...] | None = _changed_ints(3)
    adding_replicas: tuple[int, ...] | None = _changed_ints(4)
    leader_recovery_state: int = field(INT8, default=_UNCHANGED, tag=5)


class RemoveTopicRecord(Struct):
    """A topic is gone, with its partitions and settings."""

    topic_id: TopicId = field(TOPIC_ID)


class FeatureLevelRecord(Struct):
    """The level of a feature that the whole cluster has agreed on; 0 is none."""

    name: str = field(STRING)
    feature_level: int = field(INT16)


class ProducerIdsRecord(Struct):
    """Producer ids below ``next_producer_id`` have been handed out in blocks."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64, default=-1)
    next_producer_id: int = field(INT64)


class NoOpRecord(Struct):
    """Nothing; written so that the log moves."""


MetadataRecord: TypeAlias = (
    RegisterBrokerRecord
    | TopicRecord
    | PartitionRecord
    | ConfigRecord
    | PartitionChangeRecord
    | RemoveTopicRecord
    | FeatureLevelRecord
    | ProducerIdsRecord
    | NoOpRecord
)

_TYPES: dict[type[Struct], tuple[int, int]] = {
    RegisterBrokerRecord: (0, 3),
    TopicRecord: (2, 0),
    PartitionRecord: (3, 1),
    ConfigRecord: (4, 0),
    PartitionChangeRecord: (5, 0),
    RemoveTopicRecord: (9, 0),
    FeatureLevelRecord: (12, 0),
    ProducerIdsRecord: (15, 0),
    NoOpRecord: (20, 0),
}
"""Kafka's number for each type, and the version Penstock writes."""

_READABLE: dict[int, tuple[type[Any], int]] = {
    number: (kind, version) for kind, (number, version) in _TYPES.items()
}
_PREFIXES: dict[type[Struct], bytes] = {
    kind: encode_uvarint(FRAME_VERSION) + encode_uvarint(number) + encode_uvarint(version)
    for kind, (number, version) in _TYPES.items()
}


def encode_record(record: MetadataRecord) -> bytes:
    """The frame of a record, as it is the value of a record in the metadata log."""
    kind = type(record)
    return _PREFIXES[kind] + encode_struct(record, version=_TYPES[kind][1], flexible=True)


def decode_record(frame: bytes | bytearray | memoryview) -> MetadataRecord:
    """The record in a frame; ``CorruptLogError`` when there is none that this Penstock understands."""
    view = memoryview(frame)
    try:
        frame_version, position = read_uvarint(view, 0)
        number, position = read_uvarint(view, position)
        version, position = read_uvarint(view, position)
        kind = _kind_of(frame_version, number, version)
        record: MetadataRecord = decode_struct(kind, view, version=version, flexible=True, position=position)
    except (DecodeError, IndexError) as error:
        raise CorruptLogError(f"a metadata record cannot be read: {error}") from error
    return record


def _kind_of(frame_version: int, number: int, version: int) -> type[Any]:
    kind, highest = _READABLE.get(number, (None, -1))
    if frame_version != FRAME_VERSION or kind is None or version > highest:
        raise CorruptLogError(
            f"the metadata log holds a record of type {number}, version {version}, frame {frame_version}, "
            "which this version of Penstock does not know; was the data directory used by a newer one?"
        )
    return kind
