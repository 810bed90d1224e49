"""The state of a log's producers as a file (``.snapshot``), named by the offset it describes.

Kafka's format, big-endian: version 1, CRC-32C of everything behind it, the number of entries, and per
producer 46 bytes: producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator
epoch, first offset of the open transaction (-1 for none). Only the newest batch survives: after a restart
the log's own batches fill the window again as far as they are replayed. Derived: a bad one is ignored, and
more log is replayed.
"""

from struct import Struct

from penstock.records.batch import SEQUENCE_MAX
from penstock.records.checksum import crc32c
from penstock.storage.filesystem import join_path
from penstock.storage.producer_state import Producer, ProducerStates
from penstock.storage.segment import file_name

SUFFIX = ".snapshot"
VERSION = 1

_PREFIX = Struct(">hIi")
_CRC_AT = 2
_COUNT_AT = 6
_CRC = Struct(">I")
_ENTRY = Struct(">qhiqiqiq")


def snapshot_path(directory: str, offset: int) -> str:
    """Where the snapshot of the state at ``offset`` is."""
    return join_path(directory, file_name(offset, SUFFIX))


def encode_snapshot(states: ProducerStates) -> bytes:
    """The file's content."""
    data = bytearray(_PREFIX.pack(VERSION, 0, len(states)))
    for producer in states:
        data += _encode_entry(producer)
    _CRC.pack_into(data, _CRC_AT, crc32c(memoryview(data)[_COUNT_AT:]))
    return bytes(data)


def decode_snapshot(data: bytes, states: ProducerStates) -> bool:
    """Fill ``states`` from a file's content; False, and nothing filled, if it cannot be believed."""
    if len(data) < _PREFIX.size:
        return False
    version, crc, count = _PREFIX.unpack_from(data)
    if version != VERSION or crc != crc32c(memoryview(data)[_COUNT_AT:]):
        return False
    if count < 0 or len(data) != _PREFIX.size + count * _ENTRY.size:
        return False
    for fields in _ENTRY.iter_unpack(memoryview(data)[_PREFIX.size :]):
        states.restore(_decode_entry(*fields))
    return True


def _encode_entry(producer: Producer) -> bytes:
    last = producer.last_batch
    return _ENTRY.pack(
        producer.producer_id,
        producer.epoch,
        last.last_sequence if last else -1,
        last.last_offset if last else -1,
        last.last_offset - last.base_offset if last else 0,
        producer.last_timestamp,
        producer.coordinator_epoch,
        -1 if producer.transaction_first_offset is None else producer.transaction_first_offset,
    )


def _decode_entry(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_first_offset: int,
) -> Producer:
    producer = Producer(producer_id, epoch)
    producer.last_timestamp = timestamp
    producer.coordinator_epoch = coordinator_epoch
    producer.transaction_first_offset = transaction_first_offset if transaction_first_offset >= 0 else None
    if last_offset >= 0 and last_sequence >= 0:
        base_sequence = (last_sequence - delta) & SEQUENCE_MAX
        producer.batches.append((base_sequence, last_sequence, last_offset - delta, last_offset, timestamp))
        producer.next_sequence = (last_sequence + 1) & SEQUENCE_MAX
    return producer
