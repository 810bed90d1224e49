"""The records of ``__transaction_state``, bit for bit as Kafka writes them.

A key is the number of its type and a transactional id, a value the number of its version and what is known of
that id; a key without a value (a tombstone) says that the id is forgotten. Values are written at version 1,
which Kafka uses from ``transaction.version`` 1 on, and read at version 0 too.
"""

from dataclasses import dataclass

from penstock.model.errors import CorruptLogError, DecodeError
from penstock.model.limits import RECORD_ELEMENTS_MAX
from penstock.wire.compiler import decode_struct
from penstock.wire.numbered import NUMBER_BYTES, encode_numbered, read_number
from penstock.wire.primitives import INT8, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, nullable_array

TRANSACTION_LOG = 0
"""Kafka's number for the only type of record there is."""

WRITTEN_VERSION = 1
FIRST_FLEXIBLE = 1


class TransactionKey(Struct):
    """Whose transactions these are."""

    transactional_id: str = field(STRING)


class TransactionTopic(Struct):
    """Partitions of one topic that are in the transaction."""

    topic: str = field(STRING)
    partition_ids: tuple[int, ...] = array(INT32)


class TransactionValue(Struct):
    """Where a transactional id stands. Kafka leaves the partitions null while there is no transaction.

    The producer ids before and after the present one, and the epoch that comes with the latter, are -1 unless
    they differ or must be known to recognise a retry (KIP-890).
    """

    producer_id: int = field(INT64)
    previous_producer_id: int = field(INT64, "1+", default=-1, tag=0)
    next_producer_id: int = field(INT64, "1+", default=-1, tag=1)
    producer_epoch: int = field(INT16)
    next_producer_epoch: int = field(INT16, "1+", default=-1, tag=3)
    transaction_timeout_ms: int = field(INT32)
    transaction_status: int = field(INT8)
    transaction_partitions: tuple[TransactionTopic, ...] | None = nullable_array(
        TransactionTopic, default=None
    )
    transaction_last_update_timestamp_ms: int = field(INT64)
    transaction_start_timestamp_ms: int = field(INT64)
    client_transaction_version: int = field(INT16, "1+", tag=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRecord:
    """A transactional id is in a new state, or is forgotten."""

    key: TransactionKey
    value: TransactionValue | None


def encode(record: TransactionRecord) -> tuple[bytes, bytes | None]:
    """The key and value of a record, as Kafka 4.3 writes them."""
    key = encode_numbered(TRANSACTION_LOG, record.key, version=0, flexible=False)
    if record.value is None:
        return key, None
    return key, encode_numbered(WRITTEN_VERSION, record.value, version=WRITTEN_VERSION, flexible=True)


def decode(key: bytes | memoryview, value: bytes | memoryview | None) -> TransactionRecord | None:
    """The record of a key and value, or none if its type is not ours; ``CorruptLogError`` if unreadable."""
    try:
        if read_number(key) != TRANSACTION_LOG:
            return None
        decoded_key = decode_struct(TransactionKey, key, version=0, flexible=False, position=NUMBER_BYTES)
        return TransactionRecord(key=decoded_key, value=None if value is None else _decode_value(value))
    except DecodeError as error:
        raise CorruptLogError(f"a record of the transactions' topic cannot be read: {error}") from error


def _decode_value(value: bytes | memoryview) -> TransactionValue:
    version = read_number(value)
    if not 0 <= version <= WRITTEN_VERSION:
        raise CorruptLogError(
            f"the transactions' topic holds a record whose value has version {version}, "
            "which this version of Penstock does not know; was the data directory used by a newer one?"
        )
    return decode_struct(
        TransactionValue,
        value,
        version=version,
        flexible=version >= FIRST_FLEXIBLE,
        position=NUMBER_BYTES,
        elements_max=RECORD_ELEMENTS_MAX,
    )
