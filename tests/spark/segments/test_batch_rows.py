"""Batches as rows, held against the reader that analyses without Spark use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.analysis.record_columns import read_columns
from penstock.records.batch import split_batches
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.spark.columns.batches import FoundBatch, Window
from penstock.spark.columns.errors import Origin, UnreadableRecordsError
from penstock.spark.segments.batch_rows import Place, batch_rows
from penstock.spark.segments.schema import COLUMNS

PLACE = Place(origin=Origin(topic="orders", partition=3), segment="here.log")

some_bytes = st.none() | st.binary(max_size=200)
some_records = st.lists(
    st.builds(
        NewRecord,
        key=some_bytes,
        value=some_bytes,
        timestamp=st.integers(0, 10**12),
        headers=st.lists(st.tuples(st.text(max_size=5), some_bytes), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=30,
)


def found(data: bytes | bytearray) -> list[FoundBatch]:
    return [FoundBatch(position, header) for position, header in split_batches(data)]


def batches_of(groups: list[list[NewRecord]], codec: Codec) -> bytes:
    data, offset = b"", 100
    for group in groups:
        data += build_batch(group, base_offset=offset, codec=codec, leader_epoch=7)
        offset += len(group)
    return data


@settings(max_examples=60, deadline=None)
@given(groups=st.lists(some_records, min_size=1, max_size=4), codec=st.sampled_from(Codec))
def test_sizes_keys_and_times_are_those_of_the_plain_reader(
    groups: list[list[NewRecord]], codec: Codec
) -> None:
    data = batches_of(groups, codec)
    (rows,) = batch_rows(data, found(data), place=PLACE, wanted=COLUMNS)
    plain = [read_columns(data, header, position) for position, header in split_batches(data)]

    assert rows.column("recordBytes").to_pylist() == [size for one in plain for size in one.sizes]
    assert rows.column("key").to_pylist() == [key for one in plain for key in one.keys]
    micros = rows.column("timestamp").cast("int64").to_pylist()
    assert micros == [1000 * time for one in plain for time in one.timestamps]
    payloads = [one.payload_bytes for one in plain for _ in one.keys]
    assert rows.column("batchPayloadBytes").to_pylist() == payloads
    assert rows.column("batchIndex").to_pylist() == [place for group in groups for place in range(len(group))]


def test_a_batch_is_told_with_every_record() -> None:
    data = batches_of([[NewRecord(value=b"a"), NewRecord(value=b"b")], [NewRecord(value=b"c")]], Codec.ZSTD)
    (rows,) = batch_rows(data, found(data), place=PLACE, wanted=COLUMNS)

    sizes = [header.size_bytes for _, header in split_batches(data)]
    told = rows.to_pydict()
    assert told["batchOffset"] == [100, 100, 102]
    assert told["batchRecords"] == [2, 2, 1]
    assert told["batchBytes"] == [sizes[0], sizes[0], sizes[1]]
    assert set(told["compression"]) == {"zstd"}
    assert set(told["leaderEpoch"]) == {7}
    assert set(told["segment"]) == {"here.log"}
    assert set(told["isTransactional"]) == set(told["isControl"]) == {False}


def test_only_the_window_is_told_but_places_in_batches_stay() -> None:
    data = batches_of([[NewRecord(value=b"%d" % number) for number in range(5)]] * 2, Codec.NONE)
    window = Window(first_offset=103, end_offset=107)
    (rows,) = batch_rows(
        data, found(data), place=PLACE, wanted=("offset", "batchIndex", "recordBytes"), window=window
    )

    assert rows.column("offset").to_pylist() == [103, 104, 105, 106]
    assert rows.column("batchIndex").to_pylist() == [3, 4, 0, 1]


def test_a_batch_that_lies_is_named() -> None:
    data = bytearray(batches_of([[NewRecord(value=b"abc", key=b"k")]], Codec.NONE))
    data[61] = 2  # the record's length
    with pytest.raises(UnreadableRecordsError, match="batch at offset 100"):
        list(batch_rows(data, found(data), place=PLACE, wanted=COLUMNS))
