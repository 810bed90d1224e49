"""Records as tests make them, and the rows they should become, read by the project's own plain reader."""

from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st

from penstock.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD,
    BatchHeader,
    pack_header,
    read_header,
    split_batches,
    write_crc,
)
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord, Record, decode_records
from penstock.records.varint import read_varint
from penstock.spark.columns.decoding import Decoded, decode
from penstock.spark.columns.schema import COLUMNS

OFFSET_MAX = 2**62
MILLIS_MAX = (2**63 - 1) // 1000
"""The latest timestamp that microseconds of 64 bits can hold."""

texts = st.text(max_size=10, alphabet=st.characters(exclude_categories=["Cs"]))
contents = st.none() | st.binary(max_size=20) | st.integers(60, 70).map(bytes)
headers = st.lists(st.tuples(texts, st.none() | st.binary(max_size=10)), max_size=4).map(tuple)
new_records = st.builds(
    NewRecord, key=contents, value=contents, headers=headers, timestamp=st.integers(-1, 2**45)
)


def decode_all(fetched: bytes | bytearray, **changes: Any) -> Decoded:
    """All rows and columns of partition 3 of ``t``, unless something else is asked for."""
    options: dict[str, Any] = {
        "topic": "t",
        "partition": 3,
        "wanted": COLUMNS,
        "first_offset": 0,
        "end_offset": OFFSET_MAX,
    }
    return decode(fetched, **(options | changes))


def rows_of(decoded: Decoded) -> list[dict[str, Any]]:
    """The rows, with timestamps in microseconds: Python's own end with the year 9999."""
    batch = decoded.batch
    batch.validate(full=True)
    place = batch.schema.get_field_index("timestamp")
    if place >= 0:
        batch = batch.set_column(place, "timestamp", batch.column(place).cast("int64"))
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def offsets_of(decoded: Decoded) -> list[int]:
    offsets: list[int] = decoded.batch.column("offset").to_pylist()
    return offsets


def plain_rows(fetched: bytes | bytearray) -> list[dict[str, Any]]:
    """What all records of all batches should become."""
    return [
        row_of(record, timestamp_type=int(header.is_log_append_time))
        for position, header in split_batches(fetched)
        for record in decode_records(fetched, header, position)
    ]


def row_of(record: Record, *, timestamp_type: int) -> dict[str, Any]:
    """What a record of partition 3 of ``t`` should become; Java's 64 bits overflow in silence."""
    timestamp = (record.timestamp + 2**63) % 2**64 - 2**63
    return {
        "key": record.key,
        "value": record.value,
        "topic": "t",
        "partition": 3,
        "offset": record.offset,
        "timestamp": timestamp * 1000 if abs(timestamp) <= MILLIS_MAX else None,
        "timestampType": timestamp_type,
        "headers": [{"key": _text(name), "value": value} for name, value in record.headers] or None,
    }


def _text(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def fetched_of(batches: list[bytearray]) -> bytes:
    return b"".join(bytes(batch) for batch in batches)


def values(count: int, *, first: int = 0) -> list[NewRecord]:
    """So many small records."""
    return [
        NewRecord(value=b"%d" % number, timestamp=1000 + number) for number in range(first, first + count)
    ]


def with_payload(payload: bytes, header: BatchHeader, **changes: int) -> bytearray:
    """A batch with a right checksum round whatever ``payload`` is."""
    batch = bytearray(HEADER_BYTES) + payload
    pack_header(batch, header._replace(batch_length=len(batch) - LOG_OVERHEAD, **changes))
    write_crc(batch, len(batch))
    return batch


def compacted(batch: bytearray, keep: Collection[int]) -> bytearray:
    """An uncompressed batch of which compaction has left the records at the places ``keep``."""
    header, data = read_header(batch), bytes(batch)
    payload, position = b"", HEADER_BYTES
    for index in range(header.record_count):
        length, start = read_varint(data, position)
        payload += data[position : start + length] if index in keep else b""
        position = start + length
    return with_payload(payload, header, record_count=len(keep))


def batch_at(base_offset: int, count: int, **options: Any) -> bytearray:
    """A batch of ``count`` small records whose values are their offsets."""
    return build_batch(values(count, first=base_offset), base_offset=base_offset, **options)
