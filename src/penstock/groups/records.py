"""The records of ``__consumer_offsets``, bit for bit as Kafka writes them.

A key begins with the number of its type, a value with the number of its version; a key without a value (a
tombstone) takes back what an earlier record of that key said. Types and fields are Kafka's, so that its tools
can read the topic and a broker of either kind can take it over from the other. What we write are the versions
that Kafka 4.3 writes; what we read are all there have been.

Types that are not here (share and streams groups) are passed over when read. What consumer groups write is
declared in ``consumer_records``.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from penstock.groups.consumer_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataRecord,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataRecord,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionRecord,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataRecord,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from penstock.model.errors import CorruptLogError, DecodeError
from penstock.model.ids import TopicId
from penstock.model.limits import RECORD_ELEMENTS_MAX
from penstock.wire.compiler import decode_struct
from penstock.wire.numbered import NUMBER_BYTES, encode_numbered, read_number
from penstock.wire.primitives import BYTES, INT32, INT64, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable

NO_EXPIRY: Final = -1
"""The time at which an offset expires, when the broker's settings and the group's life decide."""

NO_TIMESTAMP: Final = -1

TIMESTAMP_MAX: Final = 2**63 - 1
"""The latest time that can be written down."""


class OffsetCommitKey(Struct):
    """A partition that a group reads."""

    group_id: str = field(STRING)
    topic: str = field(STRING)
    partition: int = field(INT32)


class OffsetCommitValue(Struct):
    """How far the group has come; with an expiry only if the client asked for one, as old ones could."""

    offset: int = field(INT64)
    leader_epoch: int = field(INT32, "3+", default=-1)
    metadata: str = field(STRING)
    commit_timestamp: int = field(INT64)
    expire_timestamp: int = field(INT64, "1", default=NO_EXPIRY)
    topic_id: TopicId = field(TOPIC_ID, "4+", tag=0)


class GroupMetadataKey(Struct):
    """A classic group."""

    group_id: str = field(STRING)


class GroupMetadataMember(Struct):
    """A member of a generation, what it said when it joined and what it got, both in the group's encoding."""

    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "3+")
    client_id: str = field(STRING)
    client_host: str = field(STRING)
    rebalance_timeout: int = field(INT32, "1+", default=-1)
    session_timeout: int = field(INT32)
    subscription: bytes = field(BYTES)
    assignment: bytes = field(BYTES)


class GroupMetadataValue(Struct):
    """A generation of a classic group; without members it is empty since ``current_state_timestamp``."""

    protocol_type: str = field(STRING)
    generation: int = field(INT32)
    protocol: str | None = nullable(STRING)
    leader: str | None = nullable(STRING)
    current_state_timestamp: int = field(INT64, "2+", default=NO_TIMESTAMP)
    members: tuple[GroupMetadataMember, ...] = array(GroupMetadataMember)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitRecord:
    """A group has come so far in a partition, or its offset there is forgotten."""

    key: OffsetCommitKey
    value: OffsetCommitValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadataRecord:
    """A classic group has a new generation, or is gone."""

    key: GroupMetadataKey
    value: GroupMetadataValue | None


GroupRecord: TypeAlias = OffsetCommitRecord | GroupMetadataRecord | ConsumerGroupRecord


class _Type(NamedTuple):
    """One type of record: Kafka's number for it, and the versions of its value."""

    number: int
    record: type[Any]
    key: type[Struct]
    value: type[Struct]
    written: int = 0
    highest: int = 0
    first_flexible: int = 0


_WITH_EXPIRY = 1
"""The only version of an offset's value that says when it expires."""

_TYPES = (
    _Type(1, OffsetCommitRecord, OffsetCommitKey, OffsetCommitValue, 4, 4, 4),
    _Type(2, GroupMetadataRecord, GroupMetadataKey, GroupMetadataValue, 3, 4, 4),
    _Type(3, ConsumerGroupMetadataRecord, ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    _Type(
        4,
        ConsumerGroupPartitionMetadataRecord,
        ConsumerGroupPartitionMetadataKey,
        ConsumerGroupPartitionMetadataValue,
    ),
    _Type(
        5,
        ConsumerGroupMemberMetadataRecord,
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupMemberMetadataValue,
    ),
    _Type(
        6,
        ConsumerGroupTargetAssignmentMetadataRecord,
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMetadataValue,
    ),
    _Type(
        7,
        ConsumerGroupTargetAssignmentMemberRecord,
        ConsumerGroupTargetAssignmentMemberKey,
        ConsumerGroupTargetAssignmentMemberValue,
    ),
    _Type(
        8,
        ConsumerGroupCurrentMemberAssignmentRecord,
        ConsumerGroupCurrentMemberAssignmentKey,
        ConsumerGroupCurrentMemberAssignmentValue,
    ),
    _Type(
        16,
        ConsumerGroupRegularExpressionRecord,
        ConsumerGroupRegularExpressionKey,
        ConsumerGroupRegularExpressionValue,
    ),
)
_BY_RECORD: dict[type[Any], _Type] = {row.record: row for row in _TYPES}
_LEGACY_OFFSET_COMMIT = 0
_BY_NUMBER: dict[int, _Type] = {row.number: row for row in _TYPES} | {_LEGACY_OFFSET_COMMIT: _TYPES[0]}


def encode(record: GroupRecord) -> tuple[bytes, bytes | None]:
    """The key and value of a record, as Kafka 4.3 writes them."""
    row = _BY_RECORD[type(record)]
    key = encode_numbered(row.number, record.key, version=0, flexible=False)
    if record.value is None:
        return key, None
    version = _written_version(row, record.value)
    return key, encode_numbered(
        version, record.value, version=version, flexible=version >= row.first_flexible
    )


def decode(key: bytes | memoryview, value: bytes | memoryview | None) -> GroupRecord | None:
    """The record of a key and value, or none if its type is not ours; ``CorruptLogError`` if unreadable."""
    try:
        row = _BY_NUMBER.get(read_number(key))
        return None if row is None else _decode(row, key, value)
    except DecodeError as error:
        raise CorruptLogError(f"a record of the groups' topic cannot be read: {error}") from error


def _written_version(row: _Type, value: Struct) -> int:
    if isinstance(value, OffsetCommitValue) and value.expire_timestamp != NO_EXPIRY:
        return _WITH_EXPIRY
    return row.written


def _decode(row: _Type, key: bytes | memoryview, value: bytes | memoryview | None) -> GroupRecord:
    decoded_key = decode_struct(row.key, key, version=0, flexible=False, position=NUMBER_BYTES)
    record: GroupRecord = row.record(
        key=decoded_key, value=None if value is None else _decode_value(row, value)
    )
    return record


def _decode_value(row: _Type, value: bytes | memoryview) -> Struct:
    version = read_number(value)
    if not 0 <= version <= row.highest:
        raise CorruptLogError(
            f"the groups' topic holds a record of type {row.number} whose value has version {version}, "
            "which this version of Penstock does not know; was the data directory used by a newer one?"
        )
    return decode_struct(
        row.value,
        value,
        version=version,
        flexible=version >= row.first_flexible,
        position=NUMBER_BYTES,
        elements_max=RECORD_ELEMENTS_MAX,
    )
