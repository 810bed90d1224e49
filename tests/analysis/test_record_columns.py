"""Columns hold what records hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.analysis.record_columns import read_columns
from penstock.records.batch import HEADER_BYTES, read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord, decode_records

RECORDS = st.lists(
    st.builds(
        NewRecord,
        key=st.none() | st.binary(max_size=200),
        value=st.none() | st.binary(max_size=300),
        timestamp=st.integers(0, 2**45),
        headers=st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2).map(
            tuple
        ),
    ),
    min_size=1,
    max_size=20,
)


@given(RECORDS, st.sampled_from(list(Codec)), st.booleans())
def test_columns_of_any_batch_agree_with_its_records(
    records: list[NewRecord], codec: Codec, log_append_time: bool
) -> None:
    batch = build_batch(records, codec=codec, log_append_time=log_append_time)
    header = read_header(batch)

    columns = read_columns(batch, header)
    decoded = decode_records(batch)
    assert columns.keys == [record.key for record in decoded]
    assert columns.timestamps == [record.timestamp for record in decoded]
    assert columns.tombstone_count == sum(record.value is None for record in decoded)
    assert sum(columns.sizes) == columns.payload_bytes
    assert all(
        size > len(record.key or b"") + len(record.value or b"")
        for size, record in zip(columns.sizes, decoded, strict=True)
    )


def test_columns_of_a_batch_inside_a_buffer_are_found_at_its_position() -> None:
    first = build_batch([NewRecord(key=b"a", value=b"1")])
    second = build_batch([NewRecord(key=b"b", value=b"2")])
    buffer = first + second

    assert read_columns(buffer, read_header(buffer, len(first)), len(first)).keys == [b"b"]


@given(st.integers(HEADER_BYTES, 120), st.integers(0, 255))
def test_columns_of_a_spoiled_batch_are_read_or_refused_but_nothing_else(position: int, byte: int) -> None:
    batch = build_batch([NewRecord(key=b"key", value=b"value" * 4, timestamp=n) for n in range(3)])
    batch[min(position, len(batch) - 1)] = byte
    write_crc(batch, len(batch))

    try:
        columns = read_columns(batch, read_header(batch))
    except CorruptBatchError:
        return
    assert len(columns.keys) == 3


def test_columns_of_a_batch_that_claims_too_many_records_are_refused() -> None:
    batch = build_batch([NewRecord(value=b"v")])
    header = read_header(batch)._replace(record_count=1_000_000)

    with pytest.raises(CorruptBatchError, match="claims 1000000 records"):
        read_columns(batch, header)
