"""What consumers of a classic group tell each other through the broker, as far as it has to understand them.

A member's subscription comes with JoinGroup, its assignment with SyncGroup, both opaque to the protocol. For
groups whose protocol type is ``consumer`` a broker looks inside: to know which topics are still read before
it forgets offsets, and to turn a classic group into one that it assigns itself.

Readers are lenient, as Kafka's are. A version from the future is read as the newest we know, since fields are
only ever added at the end. Some clients claim a version whose last fields they leave out; what is there is
taken, and those fields have their defaults.
"""

from typing import Final, TypeVar

from penstock.model.errors import DecodeError
from penstock.wire.compiler import decode_struct
from penstock.wire.numbered import NUMBER_BYTES, encode_numbered, read_number
from penstock.wire.primitives import BYTES, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

PROTOCOL_TYPE: Final = "consumer"
HIGHEST_VERSION: Final = 3


class ProtocolTopicPartitions(Struct):
    """Partitions of one topic."""

    topic: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class ConsumerProtocolSubscription(Struct):
    """What a member wants to read and, since version 1, what it holds from the generation before."""

    may_be_followed_by_bytes = True

    topics: tuple[str, ...] = array(STRING)
    user_data: bytes | None = nullable(BYTES)
    owned_partitions: tuple[ProtocolTopicPartitions, ...] = array(ProtocolTopicPartitions, "1+")
    generation_id: int = field(INT32, "2+", default=-1)
    rack_id: str | None = nullable(STRING, "3+")


class ConsumerProtocolAssignment(Struct):
    """What a member gets to read; the same at every version."""

    may_be_followed_by_bytes = True

    assigned_partitions: tuple[ProtocolTopicPartitions, ...] = array(ProtocolTopicPartitions)
    user_data: bytes | None = nullable(BYTES)


Part = TypeVar("Part", ConsumerProtocolSubscription, ConsumerProtocolAssignment)


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription | None:
    """The subscription in what a member sent with JoinGroup, or none if it is no such thing."""
    return _read(ConsumerProtocolSubscription, metadata)


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment | None:
    """The assignment of a member, or none if it is no such thing; empty bytes assign nothing."""
    return _read(ConsumerProtocolAssignment, assignment) if assignment else ConsumerProtocolAssignment()


def read_version(metadata: bytes) -> int | None:
    """The version that a subscription or assignment claims, or none if it has no sensible one.

    A member is answered in the version it spoke.
    """
    if len(metadata) < NUMBER_BYTES:
        return None
    version = read_number(metadata)
    return version if version >= 0 else None


def write_subscription(
    subscription: ConsumerProtocolSubscription, *, version: int = HIGHEST_VERSION
) -> bytes:
    """A subscription as a member sends it."""
    return _write(subscription, version)


def write_assignment(assignment: ConsumerProtocolAssignment, *, version: int = HIGHEST_VERSION) -> bytes:
    """An assignment as a leader sends it; a version from the future is written as the newest we know."""
    return _write(assignment, version)


def _read(kind: type[Part], encoded: bytes) -> Part | None:
    claimed = read_version(encoded)
    if claimed is None:
        return None
    for version in range(min(claimed, HIGHEST_VERSION), -1, -1):
        try:
            return decode_struct(kind, encoded, version=version, flexible=False, position=NUMBER_BYTES)
        except DecodeError:
            continue  # Perhaps the last fields are missing: the version below has fewer.
    return None


def _write(part: Struct, version: int) -> bytes:
    known = min(version, HIGHEST_VERSION)
    return encode_numbered(known, part, version=known, flexible=False)
