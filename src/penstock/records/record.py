"""Single records inside a batch: what tools, compacted topics and tests need, and the hot path never does.

``Record`` is one that stands in a log and has its offset; ``NewRecord`` is one on its way there.
Decoding trusts nothing: the count, every length and every offset delta is checked against the bytes.
"""

from dataclasses import dataclass

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.batch import HEADER_BYTES, BatchHeader, Buffer, crc_matches, read_header
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.varint import read_varint, read_varlong

NO_TIMESTAMP = -1

RECORD_BYTES_MIN = 7
"""The smallest record: a length, attributes, two deltas, two null or empty fields, no headers."""

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record with its place in the log."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A record that has no offset yet."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int = NO_TIMESTAMP


def decode_records(
    batch_buffer: Buffer,
    header: BatchHeader | None = None,
    position: int = 0,
    *,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> list[Record]:
    """All records of the batch at ``position``, whose checksum is compared first."""
    header = header or read_header(batch_buffer, position)
    if not crc_matches(batch_buffer, header, position):
        raise CorruptBatchError(f"Batch at offset {header.base_offset} is incomplete or fails its checksum.")
    data = open_payload(batch_buffer, header, position, decompressed_bytes_max=decompressed_bytes_max)
    try:
        return _decode_all(data, header)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error


def open_payload(
    buffer: Buffer, header: BatchHeader, position: int = 0, *, decompressed_bytes_max: int
) -> bytes:
    """What the batch at ``position`` holds behind its header; room for as many records as it claims."""
    stored = memoryview(buffer)[position + HEADER_BYTES : position + header.size_bytes]
    data = decompress(header.codec, stored, decompressed_bytes_max) if header.codec else bytes(stored)
    if header.record_count < 0 or header.record_count * RECORD_BYTES_MIN > len(data):
        raise CorruptBatchError(f"Batch claims {header.record_count} records in {len(data)} bytes.")
    return data


def _decode_all(data: bytes, header: BatchHeader) -> list[Record]:
    records: list[Record] = []
    position, previous_delta = 0, -1
    for _ in range(header.record_count):
        length, start = read_varint(data, position)
        position = start + length
        if length < RECORD_BYTES_MIN - 1 or position > len(data):
            raise CorruptBatchError(f"Record {len(records)} claims {length} bytes.")
        delta, record = _decode_one(data, start, position, header)
        if not previous_delta < delta <= header.last_offset_delta:
            raise CorruptBatchError(f"Record {len(records)} has offset delta {delta} after {previous_delta}.")
        previous_delta = delta
        records.append(record)
    if position != len(data):
        raise CorruptBatchError(f"{len(data) - position} bytes stand behind the last record.")
    return records


def _decode_one(data: bytes, start: int, end: int, header: BatchHeader) -> tuple[int, Record]:
    timestamp_delta, position = read_varlong(data, start + 1)
    offset_delta, position = read_varint(data, position)
    key, position = _read_bytes(data, position, end)
    value, position = _read_bytes(data, position, end)
    header_count, position = read_varint(data, position)
    headers: Headers = ()
    if header_count:
        headers, position = read_headers(data, position, end, header_count)
    if position != end:
        raise CorruptBatchError(f"Record with offset delta {offset_delta} is not as long as it claims.")
    record = Record(
        offset=header.base_offset + offset_delta,
        timestamp=header.max_timestamp
        if header.is_log_append_time
        else header.base_timestamp + timestamp_delta,
        key=key,
        value=value,
        headers=headers,
    )
    return offset_delta, record


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = read_varint(data, position)
    if length == -1:
        return None, position
    after = position + length
    if length < 0 or after > end:
        raise CorruptBatchError(f"A field claims {length} bytes, {end - position} are left in its record.")
    return data[position:after], after


def read_headers(data: bytes, position: int, end: int, count: int) -> tuple[Headers, int]:
    """``count`` headers from ``position`` on, none of them beyond ``end``; and the position behind them."""
    if count < 0 or count * 2 > end - position:
        raise CorruptBatchError(f"A record claims {count} headers in {end - position} bytes.")
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        key, position = _read_bytes(data, position, end)
        if key is None:
            raise CorruptBatchError("A header has no key.")
        value, position = _read_bytes(data, position, end)
        # Kafka never looks whether a header's key is UTF-8, and C clients send what they like: keep it.
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return tuple(headers), position
