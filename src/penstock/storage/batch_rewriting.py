"""Batches as compaction leaves them: with some of their records, with a delete horizon, or empty.

Whatever is kept, is kept as it was: offsets, timestamps, headers, codec, the producer's fields, the leader's
epoch, first and last offset of the batch. Records are copied as bytes; only where a delete horizon takes the
place of the base timestamp (KIP-534), the differences to it are written anew.
"""

from penstock.records.batch import (
    CODEC_MASK,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LOG_OVERHEAD,
    BatchHeader,
    pack_header,
    write_crc,
)
from penstock.records.compression import compress
from penstock.records.varint import encode_varint, read_varint, read_varlong

NO_TIMESTAMP = -1


def empty_batch(header: BatchHeader) -> bytearray:
    """The header alone, for what it says about offsets and the producer."""
    attributes = header.attributes & ~(CODEC_MASK | DELETE_HORIZON_BIT)
    return _assemble(header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, record_count=0), b"")


def keep_records(header: BatchHeader, payload: bytes, starts: list[int], fates: bytearray) -> bytearray:
    """The batch with those records whose fate is not 0."""
    numbers = [number for number, fate in enumerate(fates) if fate]
    kept = b"".join([payload[starts[number] : starts[number + 1]] for number in numbers])
    return _filled(header, kept, len(numbers), [_timestamp_delta(payload, starts[n]) for n in numbers])


def keep_with_horizon(
    header: BatchHeader, payload: bytes, starts: list[int], fates: bytearray, *, horizon: int
) -> bytearray:
    """The same, and tombstones (or a marker) may go at ``horizon``."""
    pieces: list[bytes] = []
    deltas: list[int] = []
    for number, fate in enumerate(fates):
        if fate:
            record, delta = _moved(
                payload, starts[number], starts[number + 1], header.base_timestamp - horizon
            )
            pieces.append(record)
            deltas.append(delta)
    marked = header._replace(attributes=header.attributes | DELETE_HORIZON_BIT, base_timestamp=horizon)
    return _filled(marked, b"".join(pieces), len(deltas), deltas)


def _filled(header: BatchHeader, payload: bytes, count: int, deltas: list[int]) -> bytearray:
    largest = header.max_timestamp
    if not header.is_log_append_time:
        largest = header.base_timestamp + max(deltas)
    return _assemble(header._replace(max_timestamp=largest, record_count=count), payload)


def _assemble(header: BatchHeader, payload: bytes) -> bytearray:
    if header.codec:
        payload = compress(header.codec, payload)
    batch = bytearray(HEADER_BYTES + len(payload))
    batch[HEADER_BYTES:] = payload
    pack_header(batch, header._replace(batch_length=len(batch) - LOG_OVERHEAD))
    write_crc(batch, len(batch))
    return batch


def _timestamp_delta(payload: bytes, start: int) -> int:
    _, position = read_varint(payload, start)
    return read_varlong(payload, position + 1)[0]


def _moved(payload: bytes, start: int, end: int, by: int) -> tuple[bytes, int]:
    """A record whose timestamp counts from another base, and its new difference to that."""
    _, position = read_varint(payload, start)
    delta, rest = read_varlong(payload, position + 1)
    delta += by
    body = payload[position : position + 1] + encode_varint(delta) + payload[rest:end]
    return encode_varint(len(body)) + body, delta
