"""Metadata records, in the encoding of Kafka's own metadata log (KRaft).

Each is a frame: frame version, record type and version as unsigned varints, then the flexible body. Types and
fields are Kafka's, so that its tools can read the log; only the types Penstock writes are here. A record is
written at the lowest version that can hold it, so that a log which uses nothing new stays readable to whoever
could read it before.
"""

from typing import Any, NamedTuple, TypeAlias, cast

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
    Kind,
    read_uvarint,
)
from penstock.wire.schema import Field, Struct, array, field, nullable, parse_versions

FRAME_VERSION = 1
NO_LEADER = -1
LEADER_UNCHANGED = -2
_UNCHANGED = -1

UNFENCE, FENCE = -1, 1
"""How a ``BrokerRegistrationChangeRecord`` lets a broker in, and how it shuts it out."""


def _changed_ints(tag: int, versions: str = "0+") -> tuple[int, ...] | None:
    """A tagged list that is null while it stays as it was."""
    return cast("tuple[int, ...] | None", _changed(INT32, tag, versions))


def _changed_uuids(tag: int, versions: str) -> tuple[bytes, ...] | None:
    """As ``_changed_ints``, of ids."""
    return cast("tuple[bytes, ...] | None", _changed(UUID, tag, versions))


def _changed(kind: Kind[Any], tag: int, versions: str) -> Field:
    since = parse_versions(versions)
    return Field(kind=kind, versions=since, nulls=since, default=None, tag=tag, is_array=True)


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
    cordoned_log_dirs: tuple[bytes, ...] | None = _changed_uuids(1, "4+")


class BrokerRegistrationChangeRecord(Struct):
    """A broker is let in or shut out, is about to stop, or takes nothing new."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64)
    fenced: int = field(INT8, tag=0)
    in_controlled_shutdown: int = field(INT8, "1+", tag=1)
    log_dirs: tuple[bytes, ...] = array(UUID, "2+", tag=2)
    cordoned_log_dirs: tuple[bytes, ...] | None = _changed_uuids(3, "3+")


class UnregisterBrokerRecord(Struct):
    """A broker is gone for good."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64)


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
    eligible_leader_replicas: tuple[int, ...] | None = _changed_ints(1, "2+")
    last_known_elr: tuple[int, ...] | None = _changed_ints(2, "2+")


class ConfigRecord(Struct):
    """A setting of a topic or broker was set, or taken away (null)."""

    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    name: str = field(STRING)
    value: str | None = nullable(STRING)


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
    eligible_leader_replicas: tuple[int, ...] | None = _changed_ints(6, "2+")
    last_known_elr: tuple[int, ...] | None = _changed_ints(7, "2+")
    directories: tuple[bytes, ...] | None = _changed_uuids(8, "1+")


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
    | BrokerRegistrationChangeRecord
    | UnregisterBrokerRecord
    | TopicRecord
    | PartitionRecord
    | ConfigRecord
    | PartitionChangeRecord
    | RemoveTopicRecord
    | FeatureLevelRecord
    | ProducerIdsRecord
    | NoOpRecord
)


class _RecordType(NamedTuple):
    """Kafka's number of a type, the version Penstock writes when nothing asks for more, and the highest."""

    number: int
    usual_version: int = 0
    highest_version: int = 0


_TYPES: dict[type[Struct], _RecordType] = {
    RegisterBrokerRecord: _RecordType(0, 3, 4),
    UnregisterBrokerRecord: _RecordType(1),
    TopicRecord: _RecordType(2),
    PartitionRecord: _RecordType(3, 1, 2),
    ConfigRecord: _RecordType(4),
    PartitionChangeRecord: _RecordType(5, 0, 2),
    RemoveTopicRecord: _RecordType(9),
    FeatureLevelRecord: _RecordType(12),
    ProducerIdsRecord: _RecordType(15),
    BrokerRegistrationChangeRecord: _RecordType(17, 0, 3),
    NoOpRecord: _RecordType(20),
}

_KINDS: dict[int, type[Any]] = {type_.number: kind for kind, type_ in _TYPES.items()}

_LATER_FIELDS: dict[type[Struct], tuple[tuple[str, int, Any], ...]] = {
    kind: tuple(
        (name, declared.versions.lowest, declared.default_value())
        for name, declared in kind.fields.items()
        if declared.versions.lowest > type_.usual_version
    )
    for kind, type_ in _TYPES.items()
}
"""Fields that the usual version lacks: name, the version that has it, and the value that need not be said."""


def encode_record(record: MetadataRecord) -> bytes:
    """The frame of a record, as it is the value of a record in the metadata log."""
    kind = type(record)
    version = _version(record)
    prefix = bytes((FRAME_VERSION, _TYPES[kind].number, version))
    return prefix + encode_struct(record, version=version, flexible=True)


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


def _version(record: MetadataRecord) -> int:
    """The lowest version that can say what the record says."""
    kind = type(record)
    needed = (since for name, since, default in _LATER_FIELDS[kind] if getattr(record, name) != default)
    return max(needed, default=_TYPES[kind].usual_version)


def _kind_of(frame_version: int, number: int, version: int) -> type[Any]:
    kind = _KINDS.get(number)
    if frame_version != FRAME_VERSION or kind is None or version > _TYPES[kind].highest_version:
        raise CorruptLogError(
            f"the metadata log holds a record of type {number}, version {version}, frame {frame_version}, "
            "which this version of Penstock does not know; was the data directory used by a newer one?"
        )
    return kind
