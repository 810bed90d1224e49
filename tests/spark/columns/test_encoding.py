"""Columns to batches: every field of every record, read by the plain reader and by other clients."""

from typing import Any

import pyarrow as pa
import pytest
from aiokafka.record import default_records as aiokafka_records
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.columns.rows import decode_all, new_records, rows_of

from penstock.model.errors import UsageError
from penstock.records.batch import HEADER_BYTES, SEQUENCE_MAX, read_header, stamp
from penstock.records.builder import build_batch
from penstock.records.compression import CODEC_NAMES, Codec
from penstock.records.record import NewRecord, decode_records
from penstock.records.validation import ProduceRules, validate_produced
from penstock.spark.columns import layout as layout_module
from penstock.spark.columns.encoding import EncodedBatch, ProducerStamp, encode, next_sequence
from penstock.spark.columns.schema import arrow_type

NOW_MS = 1_700_000_000_000
codec_names = st.sampled_from([codec.name.lower() for codec in Codec])


def rows_with(records: list[NewRecord], *, before: int = 0) -> Any:
    """The records as rows, which are a slice behind ``before`` others."""
    padding = [NewRecord(key=b"padding", value=b"padding", headers=(("p", b"p"),))] * before
    padded = [*padding, *records, *padding]
    headers = [[{"key": name, "value": value} for name, value in one.headers] for one in padded]
    rows = pa.record_batch(
        {
            "key": pa.array([one.key for one in padded], pa.binary()),
            "value": pa.array([one.value for one in padded], pa.binary()),
            "headers": pa.array(headers, arrow_type("headers")),
            "timestamp_ms": pa.array([one.timestamp for one in padded], pa.int64()),
        }
    )
    return rows.slice(before, len(records))


def plain_records(batches: list[EncodedBatch]) -> list[NewRecord]:
    return [
        NewRecord(key=one.key, value=one.value, headers=one.headers, timestamp=one.timestamp)
        for batch in batches
        for one in decode_records(batch.data)
    ]


@given(st.lists(new_records, max_size=12), codec_names, st.integers(0, 3), st.integers(0, 400))
def test_records_are_those_of_the_rows(
    records: list[NewRecord], compression: str, before: int, batch_bytes_max: int
) -> None:
    rows = rows_with(records, before=before)
    batches = encode(rows, compression=compression, batch_bytes_max=batch_bytes_max, now_ms=NOW_MS)
    assert plain_records(batches) == records
    assert [batch.first_row for batch in batches] == starts_of(batches)
    for batch in batches:
        assert len(batch.data) <= max(batch_bytes_max, 0) or batch.record_count == 1
        assert read_header(batch.data).record_count == batch.record_count


def starts_of(batches: list[EncodedBatch]) -> list[int]:
    return [sum(batch.record_count for batch in batches[:place]) for place in range(len(batches))]


@given(st.lists(new_records, min_size=1, max_size=12))
def test_uncompressed_batch_is_that_of_the_builder_byte_for_byte(records: list[NewRecord]) -> None:
    producer = ProducerStamp(producer_id=7, producer_epoch=2, base_sequence=5, is_transactional=True)
    (batch,) = encode(rows_with(records), producer=producer, now_ms=NOW_MS)
    built = build_batch(records, producer_id=7, producer_epoch=2, base_sequence=5, transactional=True)
    assert batch.data == bytes(built)


@pytest.mark.parametrize("compression", CODEC_NAMES)
def test_brokers_take_the_batches_and_other_clients_read_them(compression: str) -> None:
    records = [NewRecord(key=b"k%d" % n, value=b"value" * (n % 9), timestamp=NOW_MS + n) for n in range(500)]
    producer = ProducerStamp(producer_id=7, producer_epoch=0, base_sequence=0)
    (batch,) = encode(rows_with(records), compression=compression, producer=producer, now_ms=NOW_MS)
    header = validate_produced(batch.data, ProduceRules(), NOW_MS)
    assert header.codec == CODEC_NAMES[compression]
    assert header.max_timestamp == NOW_MS + 499
    theirs = aiokafka_records.DefaultRecordBatch(batch.data)
    assert theirs.validate_crc()
    found = [NewRecord(key=one.key, value=one.value, timestamp=one.timestamp) for one in theirs]
    assert found == records


@pytest.mark.parametrize("compression", ["none", "lz4"])
def test_thousands_of_rows_come_back_as_columns(compression: str) -> None:
    """Written and read by columns, through several batches of the largest size."""
    records = [
        NewRecord(
            key=None if n % 5 == 0 else b"key %d" % n,
            value=None if n % 7 == 0 else bytes([n % 256]) * (n % 300),
            headers=(("h", b"%d" % n),) * (n % 3),
            timestamp=NOW_MS + n % 1000 - n % 7,
        )
        for n in range(20_000)
    ]
    batches = encode(rows_with(records), compression=compression, now_ms=NOW_MS)
    assert len(batches) in (3, 4)
    fetched = bytearray()
    for batch in batches:
        stamped = bytearray(batch.data)
        stamp(stamped, batch.first_row, 0)
        fetched += stamped
    rows = rows_of(decode_all(fetched, wanted=("key", "value", "offset", "timestamp", "headers")))
    assert rows == [
        {
            "key": one.key,
            "value": one.value,
            "offset": offset,
            "timestamp": one.timestamp * 1000,
            "headers": [{"key": name, "value": value} for name, value in one.headers] or None,
        }
        for offset, one in enumerate(records)
    ]


def test_batches_are_nearly_as_large_as_they_may_be() -> None:
    records = [NewRecord(key=b"0123456789abcdef", value=b"v" * 100, timestamp=NOW_MS) for _ in range(50_000)]
    batches = encode(rows_with(records), batch_bytes_max=500_000, now_ms=NOW_MS)
    sizes = [len(batch.data) for batch in batches]
    assert max(sizes) <= 500_000
    assert min(sizes[:-1]) > 480_000


def test_record_larger_than_a_batch_may_be_is_alone() -> None:
    records = [NewRecord(value=b"a"), NewRecord(value=b"b" * 2000), NewRecord(value=b"c")]
    batches = encode(rows_with(records), batch_bytes_max=1000, now_ms=NOW_MS)
    assert [batch.record_count for batch in batches] == [1, 1, 1]
    assert plain_records(batches) == records


def test_sequences_go_on_through_batches_and_begin_anew_behind_the_last() -> None:
    records = [NewRecord(value=b"x" * 50) for _ in range(30)]
    producer = ProducerStamp(producer_id=7, producer_epoch=1, base_sequence=SEQUENCE_MAX - 12)
    batches = encode(rows_with(records), producer=producer, batch_bytes_max=400, now_ms=NOW_MS)
    assert len(batches) > 3
    sequence = SEQUENCE_MAX - 12
    for batch in batches:
        header = read_header(batch.data)
        assert (header.producer_id, header.producer_epoch, header.is_transactional) == (7, 1, False)
        assert header.base_sequence == batch.base_sequence == sequence
        sequence = next_sequence(sequence, batch.record_count)
    assert sequence == 30 - 13


def test_batch_without_a_producer_says_so() -> None:
    (batch,) = encode(rows_with([NewRecord(value=b"")]), now_ms=NOW_MS)
    header = read_header(batch.data)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert batch.base_sequence == -1


def test_rows_without_a_time_are_of_now() -> None:
    rows = pa.record_batch({"value": pa.array([b"a", b"b"]), "timestamp_ms": pa.array([None, 5], pa.int64())})
    assert [one.timestamp for one in plain_records(encode(rows, now_ms=NOW_MS))] == [NOW_MS, 5]
    only_values = rows.select(["value"])
    assert [one.timestamp for one in plain_records(encode(only_values, now_ms=NOW_MS))] == [NOW_MS] * 2


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_any_times_come_back(timestamps: list[int]) -> None:
    """Java's 64 bits overflow in silence, and so do those who read the difference."""
    values = pa.array([b""] * len(timestamps), pa.binary())
    rows = pa.record_batch({"value": values, "timestamp_ms": pa.array(timestamps, pa.int64())})
    found = [(one.timestamp + 2**63) % 2**64 - 2**63 for one in plain_records(encode(rows, now_ms=NOW_MS))]
    assert found == timestamps


def test_no_rows_are_no_batches() -> None:
    assert encode(rows_with([]), now_ms=NOW_MS) == []


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view()])
def test_text_and_large_types_are_written_as_their_bytes(kind: Any) -> None:
    column = pa.array(["ä".encode(), None, b""], pa.binary()).cast(kind)
    found = plain_records(encode(pa.record_batch({"key": column, "value": column}), now_ms=NOW_MS))
    assert [(one.key, one.value) for one in found] == [("ä".encode(),) * 2, (None, None), (b"", b"")]


def test_columns_of_nothing_but_nulls_are_records_of_nulls() -> None:
    rows = pa.record_batch({"key": pa.nulls(2), "value": pa.nulls(2)})
    assert [(one.key, one.value) for one in plain_records(encode(rows, now_ms=NOW_MS))] == [(None, None)] * 2


def test_headers_of_null_rows_are_none_whatever_lies_beneath() -> None:
    pairs = pa.array([{"key": "a", "value": b"1"}, {"key": "b", "value": None}, {"key": "c", "value": b"3"}])
    headers = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), pairs, mask=pa.array([False, True, False])
    )
    rows = pa.record_batch({"value": pa.array([b"x"] * 3), "headers": headers})
    found = plain_records(encode(rows, now_ms=NOW_MS))
    assert [one.headers for one in found] == [(("a", b"1"),), (), (("c", b"3"),)]


def test_fields_of_headers_are_found_by_name() -> None:
    swapped = pa.list_(pa.struct([pa.field("value", pa.string()), pa.field("key", pa.string())]))
    headers = pa.array([[{"key": "name", "value": "content"}]], swapped)
    rows = pa.record_batch({"value": pa.array([b"x"]), "headers": headers})
    assert plain_records(encode(rows, now_ms=NOW_MS))[0].headers == (("name", b"content"),)


@pytest.mark.parametrize("header", [{"key": None, "value": b"x"}, None])
def test_header_without_a_key_is_refused(header: dict[str, bytes | None] | None) -> None:
    headers = pa.array([[{"key": "a", "value": None}, header]], arrow_type("headers"))
    rows = pa.record_batch({"value": pa.array([b"x"]), "headers": headers})
    with pytest.raises(UsageError, match="header has no key"):
        encode(rows, now_ms=NOW_MS)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.list_(pa.string()), pa.list_(pa.struct([("k", pa.string())]))]
)
def test_headers_of_another_type_are_refused(kind: Any) -> None:
    rows = pa.record_batch({"value": pa.array([b"x"]), "headers": pa.nulls(1, kind)})
    with pytest.raises(UsageError, match="array<struct<key:string,value:binary>>"):
        encode(rows, now_ms=NOW_MS)


def test_unknown_columns_are_named() -> None:
    with pytest.raises(UsageError, match="columns value, topic; a record takes key, value, headers"):
        encode(pa.record_batch({"value": pa.array([b""]), "topic": pa.array(["t"])}), now_ms=NOW_MS)


def test_values_that_have_no_bytes_are_refused() -> None:
    with pytest.raises(UsageError, match="column value is int64"):
        encode(pa.record_batch({"value": pa.array([1])}), now_ms=NOW_MS)


def test_times_of_another_type_are_refused() -> None:
    rows = pa.record_batch({"value": pa.array([b""]), "timestamp_ms": pa.array([1.5])})
    with pytest.raises(UsageError, match="timestamp_ms is double, it must be bigint"):
        encode(rows, now_ms=NOW_MS)


def test_unknown_compression_is_refused() -> None:
    with pytest.raises(UsageError, match="'brotli' is not one of none, gzip, snappy, lz4, zstd"):
        encode(rows_with([]), compression="brotli", now_ms=NOW_MS)


def test_what_compression_makes_larger_is_sent_as_it_is() -> None:
    (batch,) = encode(rows_with([NewRecord(value=b"")]), compression="gzip", now_ms=NOW_MS)
    assert read_header(batch.data).codec == Codec.NONE


def test_rows_of_more_than_is_laid_out_at_once_make_the_same_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [NewRecord(key=b"%d" % n, value=b"v" * n, headers=(("h", b"x"),)) for n in range(200)]
    together = encode(rows_with(records, before=2), batch_bytes_max=1000, now_ms=NOW_MS)
    monkeypatch.setattr(layout_module, "LAYOUT_BYTES_MAX", 2500)
    assert encode(rows_with(records, before=2), batch_bytes_max=1000, now_ms=NOW_MS) == together


def test_record_of_more_than_the_format_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "RECORD_BYTES_MAX", 1000)
    rows = rows_with([NewRecord(value=b""), NewRecord(value=bytes(1000))])
    with pytest.raises(UsageError, match=r"Row 1 makes a record of 10\d\d bytes, the limit is 1000"):
        encode(rows, now_ms=NOW_MS)


def test_header_of_a_batch_stands_before_its_records() -> None:
    (batch,) = encode(rows_with([NewRecord(value=b"abc")]), now_ms=NOW_MS)
    assert batch.data[HEADER_BYTES:].endswith(b"abc\0")
