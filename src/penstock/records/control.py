"""Control records: what brokers write into a log for each other and for clients' libraries, not for people.

Each stands alone in a batch with the control bit and takes one offset. Its key says what it is. Transaction
markers end a producer's transaction on a partition; the others belong to metadata logs and snapshots.
"""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from penstock.records.batch import Buffer, read_header
from penstock.records.builder import build_batch
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord, Record, decode_records

_KEY = Struct(">hh")
_MARKER_VALUE = Struct(">hi")
_VERSION = 0


class ControlType(IntEnum):
    """What a control record says, by the number in its key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMarker:
    """The end of a transaction on one partition."""

    is_commit: bool
    coordinator_epoch: int
    """Of the coordinator that wrote it; a lower one than seen before is a zombie's."""
    producer_id: int
    producer_epoch: int


def encode_control_key(control_type: ControlType) -> bytes:
    """The key that marks a control record."""
    return _KEY.pack(_VERSION, control_type)


def decode_control_key(key: bytes | None) -> ControlType | None:
    """What the record is; None for a type that a newer broker wrote, which readers skip."""
    if key is None or len(key) < _KEY.size:
        raise CorruptBatchError(f"A control record's key is {key!r}, which is too short.")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptBatchError(f"A control record's key has version {version}.")
    return ControlType(number) if number in _KNOWN_TYPES else None


def build_control_batch(
    control_type: ControlType, value: bytes, *, timestamp: int, base_offset: int = 0, leader_epoch: int = -1
) -> bytearray:
    """One control record that belongs to no producer."""
    record = NewRecord(key=encode_control_key(control_type), value=value, timestamp=timestamp)
    return build_batch([record], base_offset=base_offset, leader_epoch=leader_epoch, control=True)


def build_transaction_marker(marker: TransactionMarker, *, timestamp: int) -> bytearray:
    """The batch that ends ``marker``'s transaction; the log gives it its offset."""
    control_type = ControlType.COMMIT if marker.is_commit else ControlType.ABORT
    record = NewRecord(
        key=encode_control_key(control_type),
        value=_MARKER_VALUE.pack(_VERSION, marker.coordinator_epoch),
        timestamp=timestamp,
    )
    return build_batch(
        [record],
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transactional=True,
        control=True,
    )


def decode_control_record(batch_buffer: Buffer, position: int = 0) -> tuple[ControlType | None, Record]:
    """The one record of a control batch, and what it says."""
    header = read_header(batch_buffer, position)
    records = decode_records(batch_buffer, header, position)
    if not header.is_control or len(records) != 1:
        raise CorruptBatchError(f"Batch at offset {header.base_offset} is no control batch of one record.")
    return decode_control_key(records[0].key), records[0]


def decode_transaction_marker(batch_buffer: Buffer, position: int = 0) -> TransactionMarker | None:
    """The marker in a control batch, None when that is another kind of control batch."""
    header = read_header(batch_buffer, position)
    control_type, record = decode_control_record(batch_buffer, position)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    if record.value is None or len(record.value) < _MARKER_VALUE.size:
        raise CorruptBatchError(
            f"Transaction marker at offset {record.offset} has the value {record.value!r}."
        )
    return TransactionMarker(
        is_commit=control_type is ControlType.COMMIT,
        coordinator_epoch=_MARKER_VALUE.unpack_from(record.value)[1],
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
    )


_KNOWN_TYPES = frozenset(ControlType)
