"""The records of a batch as columns: only what is counted, one list for each fact.

One loop over the bytes, made for speed: it makes no record objects and slices nothing but keys.
"""

from typing import NamedTuple

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.batch import HEADER_BYTES, BatchHeader, Buffer
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.record import RECORD_BYTES_MIN
from penstock.records.varint import read_varint, read_varlong


class RecordColumns(NamedTuple):
    """One entry per record, in the order of the batch."""

    keys: list[bytes | None]
    sizes: list[int]
    """Bytes in the batch before compression: key, value, headers and the few bytes around them."""
    timestamps: list[int]
    tombstone_count: int
    """Records without a value."""
    payload_bytes: int
    """What all records take before compression."""


def read_columns(batch: Buffer, header: BatchHeader, position: int = 0) -> RecordColumns:
    """The columns of the batch at ``position``, whose checksum somebody else has compared."""
    stored = memoryview(batch)[position + HEADER_BYTES : position + header.size_bytes]
    payload = decompress(header.codec, stored, DECOMPRESSED_BYTES_MAX) if header.codec else bytes(stored)
    if header.record_count < 0 or header.record_count * RECORD_BYTES_MIN > len(payload):
        raise CorruptBatchError(f"Batch claims {header.record_count} records in {len(payload)} bytes.")
    try:
        columns = _read(payload, header)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error
    return columns


def _read(payload: bytes, header: BatchHeader) -> RecordColumns:
    keys: list[bytes | None] = []
    sizes: list[int] = []
    deltas: list[int] = []
    tombstone_count = position = 0
    for number in range(header.record_count):
        start = position
        raw, following = payload[position], payload[position + 1]
        if raw < 0x80:
            position += 1
            end = position + (raw >> 1)
        elif following < 0x80:  # up to eight kilobytes
            position += 2
            end = position + ((raw & 0x7F | following << 7) >> 1)
        else:
            length, position = read_varint(payload, position)
            end = position + length
        delta, position = read_varlong(payload, position + 1)
        while payload[position] >= 0x80:  # the offset
            position += 1
        raw = payload[position + 1]
        if raw < 0x80:
            key_length = (raw >> 1) ^ -(raw & 1)
            position += 2
        else:
            key_length, position = read_varint(payload, position + 1)
        if key_length >= 0:
            keys.append(payload[position : position + key_length])
            position += key_length
        else:
            keys.append(None)
        value_length, position = read_varint(payload, position)
        if value_length < 0:
            tombstone_count += 1
        elif position + value_length > end:
            raise CorruptBatchError(f"Record {number} is not as long as it claims.")
        if not position <= end <= len(payload):
            raise CorruptBatchError(f"Record {number} claims {end - start} bytes.")
        deltas.append(delta)
        sizes.append(end - start)
        position = end
    if position != len(payload):
        raise CorruptBatchError(f"{header.record_count} records end at {position}, not at {len(payload)}.")
    return RecordColumns(keys, sizes, _timestamps(deltas, header), tombstone_count, len(payload))


def _timestamps(deltas: list[int], header: BatchHeader) -> list[int]:
    if header.is_log_append_time:
        return [header.max_timestamp] * len(deltas)
    base = header.base_timestamp
    return [base + delta for delta in deltas]
