"""The keys of a batch's records, read without making records: all that compaction wants to know of them.

One loop over the bytes, made for speed: it skips what it does not need and slices nothing but keys.
"""

from typing import NamedTuple

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.batch import HEADER_BYTES, BatchHeader
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.varint import read_varint

_NULL = 1
"""The first byte of a field of length -1, zigzag."""


class RecordKeys(NamedTuple):
    """Columns, one entry per record."""

    starts: list[int]
    """Where each begins; one more for where the last one ends."""
    keys: list[bytes | None]
    tombstones: bytearray
    """1 where the value is null."""


def batch_payload(data: memoryview, header: BatchHeader) -> bytes:
    """The records of a batch, decompressed."""
    payload = data[HEADER_BYTES : header.size_bytes]
    codec = header.codec
    return decompress(codec, payload, DECOMPRESSED_BYTES_MAX) if codec else bytes(payload)


def read_keys(payload: bytes, count: int) -> RecordKeys:
    """Where the records begin, their keys, and which of them are tombstones."""
    starts: list[int] = []
    keys: list[bytes | None] = []
    tombstones = bytearray(count)
    position = 0
    try:
        for number in range(count):
            starts.append(position)
            raw, following = payload[position], payload[position + 1]
            if raw < 0x80:
                end = position + 1 + (raw >> 1)
                position += 2
            elif following < 0x80:  # up to eight kilobytes
                end = position + 2 + ((raw & 0x7F | following << 7) >> 1)
                position += 3
            else:
                length, position = read_varint(payload, position)
                end = position + length
                position += 1
            while payload[position] >= 0x80:  # the timestamp
                position += 1
            position += 1
            while payload[position] >= 0x80:  # the offset
                position += 1
            raw = payload[position + 1]
            if raw < 0x80:
                length = (raw >> 1) ^ -(raw & 1)
                position += 2
            else:
                length, position = read_varint(payload, position + 1)
            if length >= 0:
                key_end = position + length
                keys.append(payload[position:key_end])
                position = key_end
            else:
                keys.append(None)
            if payload[position] == _NULL:
                tombstones[number] = 1
            if not position < end:
                raise CorruptBatchError(f"Record {number} is not as long as it claims.")
            position = end
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error
    if position != len(payload):
        raise CorruptBatchError(f"{count} records end at {position}, not at {len(payload)}.")
    starts.append(position)
    return RecordKeys(starts, keys, tombstones)


def record_starts(payload: bytes, count: int) -> list[int]:
    """Where each record begins, and where the last one ends; nothing else is looked at."""
    starts = [0]
    position = 0
    try:
        for _ in range(count):
            raw, following = payload[position], payload[position + 1]
            if raw < 0x80:
                position += 1 + (raw >> 1)
            elif following < 0x80:
                position += 2 + ((raw & 0x7F | following << 7) >> 1)
            else:
                length, position = read_varint(payload, position)
                position += length
            starts.append(position)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error
    if position != len(payload):
        raise CorruptBatchError(f"{count} records end at {position}, not at {len(payload)}.")
    return starts
