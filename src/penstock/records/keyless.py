"""Which records of a batch have no key: a walk from length to length that keeps nothing of what it passes.

A compacted topic asks this of every batch, while everybody else waits, and a few hundred kilobytes can hold
millions of records. It refuses exactly what ``record`` refuses, since later readers of the log rely on that.
"""

from collections.abc import Iterator

from penstock.records.batch import BatchHeader, Buffer
from penstock.records.errors import CorruptBatchError
from penstock.records.record import open_payload
from penstock.records.varint import read_varint, read_varlong

_NULL = 1
"""The length -1 as one byte."""

_STEPS = tuple(1 + (raw >> 1) if raw & 0x81 == 0 else int(raw == _NULL) for raw in range(0x100))
"""How far it is behind a field that begins with this byte: 0 if its length is longer, or none."""


def keyless_records(batch: Buffer, header: BatchHeader, *, decompressed_bytes_max: int) -> Iterator[int]:
    """The places of records without a key, counted from 0; CorruptBatchError when the bytes are no records.

    The batch is good only when all were asked for. Its checksum is not looked at.
    """
    data = open_payload(batch, header, decompressed_bytes_max=decompressed_bytes_max)
    try:
        yield from _walk(data, header.record_count, header.last_offset_delta)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error


def _walk(data: bytes, record_count: int, last_offset_delta: int) -> Iterator[int]:
    """One loop, without a call for what fits into a byte or two.

    Every field only goes forward: who ends where a record ends has left it nowhere, and had all its fields.
    """
    position, previous_delta = 0, -1
    for index in range(record_count):
        if (length := data[position]) < 0x80:
            position += 1
            end = position + ((length >> 1) ^ -(length & 1))
        else:
            length, position = read_varint(data, position)
            end = position + length
        position += 1  # The attributes.
        if data[position] < 0x80:
            position += 1
        else:
            _, position = read_varlong(data, position)
        if (delta := data[position]) < 0x80:
            delta = (delta >> 1) ^ -(delta & 1)
            position += 1
        elif (following := data[position + 1]) < 0x80:
            delta = ((delta & 0x7F | following << 7) >> 1) ^ -(delta & 1)
            position += 2
        else:
            delta, position = read_varint(data, position)
        if step := _STEPS[data[position]]:
            is_keyless = data[position] == _NULL
            position += step
        else:
            is_keyless, position = _skip_field(data, position)
        if is_keyless:
            yield index
        if step := _STEPS[data[position]]:
            position += step
        else:
            _, position = _skip_field(data, position)
        position = position + 1 if data[position] == 0 else _skip_headers(data, position, end)
        if position != end or end > len(data) or not previous_delta < delta <= last_offset_delta:
            raise CorruptBatchError(f"Record {index} is malformed.")
        previous_delta = delta
    if position != len(data):
        raise CorruptBatchError(f"{len(data) - position} bytes stand behind the last record.")


def _skip_field(data: bytes, position: int) -> tuple[bool, int]:
    """Whether it is null, and the position behind it."""
    length, position = read_varint(data, position)
    if length < -1:
        raise CorruptBatchError(f"A field claims {length} bytes.")
    return length < 0, position + max(length, 0)


def _skip_headers(data: bytes, position: int, end: int) -> int:
    """The position behind the headers."""
    count, position = read_varint(data, position)
    if count < 0 or count * 2 > end - position:
        raise CorruptBatchError(f"A record claims {count} headers in {end - position} bytes.")
    for _ in range(count):
        is_null, position = _skip_field(data, position)
        if is_null:
            raise CorruptBatchError("A header has no key.")
        _, position = _skip_field(data, position)
    return position
