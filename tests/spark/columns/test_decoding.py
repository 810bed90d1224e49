"""Batches to columns: every field of every row, against the plain reader."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.columns.rows import (
    batch_at,
    compacted,
    decode_all,
    fetched_of,
    new_records,
    offsets_of,
    plain_rows,
    rows_of,
    values,
)

from penstock.model.errors import UsageError
from penstock.records.batch import HEADER_BYTES, read_header, stamp_log_append_time
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.control import ControlType, build_control_batch
from penstock.records.record import NewRecord
from penstock.spark.columns import batches as batches_module
from penstock.spark.columns import bodies as bodies_module
from penstock.spark.columns.errors import UnreadableRecordsError
from penstock.spark.columns.schema import COLUMNS, arrow_schema


@given(st.lists(st.tuples(st.lists(new_records, min_size=1, max_size=8), st.sampled_from(Codec)), max_size=4))
def test_rows_are_those_of_the_plain_reader(batches: list[tuple[list[NewRecord], Codec]]) -> None:
    fetched, offset = bytearray(), 5
    for records, codec in batches:
        fetched += build_batch(records, base_offset=offset, codec=codec)
        offset += len(records)
    decoded = decode_all(fetched, first_offset=5)
    assert rows_of(decoded) == plain_rows(fetched)
    assert decoded.next_offset == offset


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("batch_rows", [7, 100, 5000])
def test_thousands_of_rows_are_those_of_the_plain_reader(codec: Codec, batch_rows: int) -> None:
    """So many that chains are walked in lanes, through batches and inside of them."""
    rng = random.Random(batch_rows)
    records = [
        NewRecord(
            key=rng.choice([None, b"", rng.randbytes(16)]),
            value=rng.choice([None, rng.randbytes(rng.randrange(300)), bytes(rng.randrange(100))]),
            headers=rng.choice([(), (("a", None),), (("trace", rng.randbytes(8)), ("ä", b""), ("z", b"\0"))]),
            timestamp=10**12 + rng.randrange(-(10**6), 10**6),
        )
        for _ in range(5000)
    ]
    parts = [records[start : start + batch_rows] for start in range(0, len(records), batch_rows)]
    fetched = fetched_of(
        [build_batch(part, base_offset=place * batch_rows, codec=codec) for place, part in enumerate(parts)]
    )
    assert rows_of(decode_all(fetched)) == plain_rows(fetched)


@pytest.mark.parametrize("size", [8_180, 8_191, 8_192, 2**20 - 20, 2**20, 5_000_000])
def test_large_values_come_whole(size: int) -> None:
    records = [NewRecord(key=b"k", value=bytes([place]) * size) for place in range(3)]
    fetched = build_batch(records)
    assert rows_of(decode_all(fetched)) == plain_rows(fetched)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_decoded_and_let_go(kind: type) -> None:
    fetched = kind(bytes(batch_at(0, 10)))
    decoded = decode_all(fetched)
    assert offsets_of(decoded) == list(range(10))
    if kind is bytearray:
        fetched.clear()  # It raises BufferError as long as somebody looks at it.
    assert rows_of(decoded)[9]["value"] == b"9"


@given(st.lists(st.sampled_from(COLUMNS), unique=True, min_size=1))
def test_only_wanted_columns_come_in_the_order_wanted(wanted: list[str]) -> None:
    records = [NewRecord(key=b"k", value=b"v", headers=(("a", b"b"),), timestamp=7), NewRecord(value=None)]
    fetched = build_batch(records, base_offset=9)
    decoded = decode_all(fetched, wanted=wanted)
    assert decoded.batch.schema.equals(arrow_schema(wanted), check_metadata=True)
    assert rows_of(decoded) == [{name: row[name] for name in wanted} for row in plain_rows(fetched)]


def test_no_column_at_all_is_refused() -> None:
    """A table without columns cannot say how many rows it has."""
    with pytest.raises(UsageError, match="at least one column"):
        decode_all(b"", wanted=[])


def test_unknown_column_is_named() -> None:
    with pytest.raises(UsageError, match="no column 'colour', it has key, value, topic"):
        decode_all(b"", wanted=["colour"])


def test_no_bytes_are_no_rows_and_no_progress() -> None:
    decoded = decode_all(b"", first_offset=17)
    assert (decoded.batch.num_rows, decoded.next_offset) == (0, 17)
    assert decoded.batch.schema.equals(arrow_schema(COLUMNS))


def test_brokers_clock_is_one_time_for_all() -> None:
    batch = batch_at(0, 3)
    stamp_log_append_time(batch, 77_000)
    fetched = fetched_of([batch, batch_at(3, 2)])
    rows = rows_of(decode_all(fetched))
    assert rows == plain_rows(fetched)
    assert [row["timestamp"] for row in rows[:3]] == [77_000_000] * 3
    assert [row["timestampType"] for row in rows] == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("timestamp", [-1, -(2**40), 0, 2**52, 2**63 - 1, -(2**63)])
def test_times_that_spark_cannot_hold_are_null(timestamp: int) -> None:
    fetched = build_batch([NewRecord(value=b"", timestamp=0), NewRecord(value=b"", timestamp=timestamp)])
    rows = rows_of(decode_all(fetched))
    assert rows == plain_rows(fetched)
    assert rows[1]["timestamp"] == (timestamp * 1000 if abs(timestamp) < 2**53 else None)


def test_header_name_that_is_no_text_is_replaced() -> None:
    name = b"a\xff".decode("utf-8", "surrogateescape")
    decoded = decode_all(build_batch([NewRecord(value=b"", headers=((name, b"\xff"), ("b", None)))]))
    headers = [{"key": "a�", "value": b"\xff"}, {"key": "b", "value": None}]
    assert rows_of(decoded)[0]["headers"] == headers


@pytest.mark.parametrize("others", [0, 20])
def test_thousands_of_headers_in_one_record(others: int) -> None:
    many = NewRecord(value=b"", headers=tuple((f"h{place}", b"%d" % place) for place in range(20_000)))
    few = NewRecord(value=b"", headers=(("a", None), ("b", b"")))
    fetched = build_batch([few] * others + [many] + [few] * others)
    assert rows_of(decode_all(fetched)) == plain_rows(fetched)


@given(st.sets(st.integers(0, 9), max_size=10), st.integers(0, 25), st.integers(0, 25))
def test_gaps_and_windows_leave_the_offsets_that_are_there(kept: set[int], first: int, end: int) -> None:
    fetched = fetched_of([batch_at(0, 5), compacted(batch_at(5, 10), kept), batch_at(18, 4)])
    decoded = decode_all(fetched, first_offset=first, end_offset=end)
    there = [*range(5), *(5 + place for place in sorted(kept)), *range(18, 22)]
    assert offsets_of(decoded) == [offset for offset in there if first <= offset < end]
    assert rows_of(decoded) == [row for row in plain_rows(fetched) if first <= row["offset"] < end]
    assert decoded.next_offset == max(first, min(end, 22))


def test_batch_without_records_moves_the_offset_on() -> None:
    fetched = fetched_of([compacted(batch_at(4, 3), ()), compacted(batch_at(7, 5), ())])
    decoded = decode_all(fetched, first_offset=4)
    assert (decoded.batch.num_rows, decoded.next_offset) == (0, 12)


def test_control_batches_are_no_rows_but_offsets() -> None:
    leader_change = build_control_batch(ControlType.LEADER_CHANGE, b"\0\0", timestamp=1, base_offset=2)
    decoded = decode_all(fetched_of([batch_at(0, 2), leader_change]))
    assert offsets_of(decoded) == [0, 1]
    assert decoded.next_offset == 3


def test_cut_off_batch_is_left_to_the_next_fetch() -> None:
    whole = fetched_of([batch_at(0, 2), batch_at(2, 3)])
    first_bytes = read_header(whole).size_bytes
    for size in range(len(whole)):
        decoded = decode_all(whole[:size])
        assert decoded.next_offset == (0 if size < first_bytes else 2)
        assert offsets_of(decoded) == ([] if size < first_bytes else [0, 1])


def test_rows_beyond_what_one_decoding_takes_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "ROWS_MAX", 10)
    fetched = fetched_of([batch_at(0, 6), batch_at(6, 4), batch_at(10, 1)])
    decoded = decode_all(fetched)
    assert (decoded.batch.num_rows, decoded.next_offset) == (10, 10)
    with pytest.raises(UnreadableRecordsError, match="offset 20: It claims 11 records"):
        decode_all(fetched_of([batch_at(20, 11)]))


def test_bytes_beyond_what_one_decoding_takes_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [batch_at(place * 10, 10, codec=Codec.ZSTD) for place in range(3)]
    body_bytes = len(batch_at(0, 10)) - HEADER_BYTES
    monkeypatch.setattr(bodies_module, "FETCH_BYTES_MAX", body_bytes * 2 + 20)
    decoded = decode_all(fetched_of(batches))
    assert (decoded.batch.num_rows, decoded.next_offset) == (20, 20)
    monkeypatch.setattr(bodies_module, "FETCH_BYTES_MAX", 1)
    decoded = decode_all(fetched_of(batches), first_offset=5)
    assert (offsets_of(decoded), decoded.next_offset) == ([5, 6, 7, 8, 9], 10)


def test_values_are_those_written() -> None:
    decoded = decode_all(build_batch(values(3), base_offset=3), wanted=["value", "offset", "topic"])
    assert decoded.batch.to_pylist() == [
        {"value": b"0", "offset": 3, "topic": "t"},
        {"value": b"1", "offset": 4, "topic": "t"},
        {"value": b"2", "offset": 5, "topic": "t"},
    ]
