"""Records of a batch for who looks at many and keeps few: keys and values at once, headers when asked for.

It reads what ``record`` reads in less than half the time: one loop, without a call for most fields.
"""

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.batch import HEADER_BYTES, BatchHeader, Buffer, crc_matches
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.record import RECORD_BYTES_MIN, Headers, Record, read_headers
from penstock.records.varint import read_varint, read_varlong


class LazyRecord:
    """A record with its place in the log; ``record`` is the same as a plain value."""

    __slots__ = ("_headers_at", "_headers_end", "_payload", "key", "offset", "timestamp", "value")

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    _payload: bytes
    _headers_at: int
    _headers_end: int

    @property
    def header_bytes(self) -> bytes:
        """Where the names and values of all headers are among: what is not in here is in none of them."""
        return self._payload[self._headers_at : self._headers_end]

    @property
    def headers(self) -> Headers:
        """Names and values; CorruptBatchError if they are no such thing."""
        try:
            count, position = read_varint(self._payload, self._headers_at)
            if not count:
                return ()
            headers, position = read_headers(self._payload, position, self._headers_end, count)
        except IndexError as error:
            raise CorruptBatchError(
                f"The headers at offset {self.offset} end beyond their record."
            ) from error
        return headers

    @property
    def record(self) -> Record:
        """The whole record."""
        return Record(
            offset=self.offset,
            timestamp=self.timestamp,
            key=self.key,
            value=self.value,
            headers=self.headers,
        )


def lazy_records(batch: Buffer, header: BatchHeader, position: int = 0) -> list[LazyRecord]:
    """The records of the batch at ``position``, whose checksum is compared first."""
    if not crc_matches(batch, header, position):
        raise CorruptBatchError(f"Batch at offset {header.base_offset} is incomplete or fails its checksum.")
    stored = memoryview(batch)[position + HEADER_BYTES : position + header.size_bytes]
    payload = decompress(header.codec, stored, DECOMPRESSED_BYTES_MAX) if header.codec else bytes(stored)
    if header.record_count < 0 or header.record_count * RECORD_BYTES_MIN > len(payload):
        raise CorruptBatchError(f"Batch claims {header.record_count} records in {len(payload)} bytes.")
    try:
        return _read(payload, header)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error


def _read(payload: bytes, header: BatchHeader) -> list[LazyRecord]:
    found: list[LazyRecord] = []
    make = LazyRecord.__new__
    base_offset, base_timestamp, last_delta = header.base_offset, header.base_timestamp, -1
    appended_at = header.max_timestamp if header.is_log_append_time else None
    position, size = 0, len(payload)
    for _ in range(header.record_count):
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
        timestamp_delta, position = read_varlong(payload, position + 1)
        raw = payload[position]
        if raw < 0x80:
            delta = (raw >> 1) ^ -(raw & 1)
            position += 1
        else:
            delta, position = read_varint(payload, position)
        raw = payload[position]
        if raw < 0x80:
            key_length = (raw >> 1) ^ -(raw & 1)
            position += 1
        else:
            key_length, position = read_varint(payload, position)
        record = make(LazyRecord)
        if key_length >= 0:
            record.key = payload[position : position + key_length]
            position += key_length
        else:
            record.key = None
        value_length, position = read_varint(payload, position)
        if value_length >= 0:
            record.value = payload[position : position + value_length]
            position += value_length
        else:
            record.value = None
        if not position < end <= size or not last_delta < delta <= header.last_offset_delta:
            raise CorruptBatchError(f"Record {len(found)} of the batch at offset {base_offset} is malformed.")
        record.offset = base_offset + delta
        record.timestamp = base_timestamp + timestamp_delta if appended_at is None else appended_at
        record._payload, record._headers_at, record._headers_end = payload, position, end
        found.append(record)
        last_delta, position = delta, end
    if position != size:
        raise CorruptBatchError(f"{size - position} bytes stand behind the last record.")
    return found
