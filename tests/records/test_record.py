"""Single records: what goes in comes out, and nothing a batch claims is believed."""

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.batch import HEADER_BYTES, BatchHeader, pack_header, read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord, Record, decode_records

header_keys = st.one_of(
    st.text(max_size=10, alphabet=st.characters(exclude_categories=["Cs"])),
    st.binary(max_size=4).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
new_records = st.builds(
    NewRecord,
    key=st.none() | st.binary(max_size=20),
    value=st.none() | st.binary(max_size=200),
    headers=st.lists(st.tuples(header_keys, st.none() | st.binary(max_size=10)), max_size=3).map(tuple),
    timestamp=st.integers(-1, 2**48),
)


def with_payload(payload: bytes, **fields: int) -> bytearray:
    """A batch with a right checksum round whatever ``payload`` is."""
    header = read_header(build_batch([NewRecord(value=b"")]))
    batch = bytearray(HEADER_BYTES) + payload
    pack_header(batch, header._replace(batch_length=len(batch) - 12, **fields))
    write_crc(batch, len(batch))
    return batch


@given(st.lists(new_records, min_size=1, max_size=20), st.sampled_from(Codec), st.integers(0, 2**62))
def test_records_of_any_batch_decode_to_what_was_built(
    records: list[NewRecord], codec: Codec, base_offset: int
) -> None:
    batch = build_batch(records, codec=codec, base_offset=base_offset)
    expected = [
        Record(offset=base_offset + index, timestamp=r.timestamp, key=r.key, value=r.value, headers=r.headers)
        for index, r in enumerate(records)
    ]
    assert decode_records(batch) == expected
    assert decode_records(memoryview(b"before" + batch), position=6) == expected


def test_records_with_compaction_gaps_keep_their_offsets() -> None:
    batch = with_payload(
        b"\x0c\0\0\x04\x01\x01\0" + b"\x0c\0\0\x08\x01\x01\0", record_count=2, last_offset_delta=9
    )
    assert [record.offset for record in decode_records(batch)] == [2, 4]


def test_records_of_an_emptied_batch_are_none() -> None:
    assert decode_records(with_payload(b"", record_count=0, last_offset_delta=4)) == []


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        pytest.param(
            b"\x0c\0\0\0\x01\x01\0", {"record_count": 2, "last_offset_delta": 1}, id="count too high"
        ),
        pytest.param(b"\x0c\0\0\0\x01\x01\0" * 2, {}, id="count too low"),
        pytest.param(b"\x0c\0\0\0\x01\x01\0", {"record_count": -1}, id="count negative"),
        pytest.param(b"", {"record_count": 2**31 - 1}, id="count enormous"),
        pytest.param(b"\x0c\0\0\x02\x01\x01\0", {}, id="delta beyond the last"),
        pytest.param(b"\x0c\0\0\x01\x01\x01\0", {}, id="delta negative"),
        pytest.param(
            b"\x0c\0\0\0\x01\x01\0" * 2, {"record_count": 2, "last_offset_delta": 1}, id="delta repeated"
        ),
        pytest.param(b"\x0e\0\0\0\x01\x01\0\0", {}, id="record longer than its fields"),
        pytest.param(b"\x7e\0\0\0\x01\x01\0", {}, id="record longer than the batch"),
        pytest.param(b"\x01\0\0\0\x01\x01\0", {}, id="record length negative"),
        pytest.param(b"\x0c\0\0\0\x10\x01\0", {}, id="key longer than the record"),
        pytest.param(b"\x0c\0\0\0\x03\x01\0", {}, id="key length -2"),
        pytest.param(b"\x0c\0\0\0\x01\x10\0", {}, id="value longer than the record"),
        pytest.param(b"\x0c\0\0\0\x01\x01\x7e", {}, id="headers that are not there"),
        pytest.param(b"\x0c\0\0\0\x01\x01\x01", {}, id="header count negative"),
        pytest.param(b"\x10\0\0\0\x01\x01\x02\x01\x01", {}, id="header without key"),
        pytest.param(b"\x0c\0\0\0\x01\x01\x80", {}, id="varint cut by the end"),
        pytest.param(b"\x0e\0\x80\x80\x80\x80\x80\x80", {}, id="varint over everything"),
    ],
)
def test_records_that_lie_are_refused(payload: bytes, fields: dict[str, int]) -> None:
    with pytest.raises(CorruptBatchError):
        decode_records(with_payload(payload, **fields))


def test_records_of_a_wrong_checksum_are_refused() -> None:
    batch = build_batch([NewRecord(value=b"value")])
    batch[-1] ^= 1
    with pytest.raises(CorruptBatchError, match="checksum"):
        decode_records(batch)


def test_records_of_a_cut_batch_are_refused() -> None:
    with pytest.raises(CorruptBatchError, match="incomplete"):
        decode_records(build_batch([NewRecord(value=b"value")])[:-1])


def test_records_that_decompress_beyond_the_limit_are_refused() -> None:
    batch = build_batch([NewRecord(value=bytes(10_000))], codec=Codec.GZIP)
    assert len(decode_records(batch, decompressed_bytes_max=11_000)) == 1
    with pytest.raises(CorruptBatchError, match="more than 9000 bytes"):
        decode_records(batch, decompressed_bytes_max=9_000)


@given(st.binary(max_size=80), st.integers(-2, 12), st.integers(-2, 12), st.integers(0, 7))
def test_records_of_any_payload_decode_or_raise_one_kind_of_error(
    payload: bytes, count: int, last_delta: int, codec: int
) -> None:
    batch = with_payload(payload, record_count=count, last_offset_delta=last_delta, attributes=codec)
    with contextlib.suppress(CorruptBatchError):
        decode_records(batch)


def test_records_of_mutated_batches_decode_or_raise_one_kind_of_error() -> None:
    draw = random.Random("mutated records")
    records = [NewRecord(key=b"k", value=b"v" * 20, headers=(("h", b"x"),), timestamp=5) for _ in range(5)]
    for codec in Codec:
        good = build_batch(records, codec=codec)
        for _ in range(300):
            batch = bytearray(good)
            batch[draw.randrange(HEADER_BYTES, len(batch))] = draw.randrange(256)
            write_crc(batch, len(batch))
            with contextlib.suppress(CorruptBatchError):
                decode_records(batch)


def test_record_header_names_that_are_no_utf8_survive_a_round_trip() -> None:
    name = b"\xff\xfe".decode("utf-8", "surrogateescape")
    batch = build_batch([NewRecord(value=b"", headers=((name, b"1"),))])
    assert b"\xff\xfe" in batch
    assert decode_records(batch)[0].headers == ((name, b"1"),)


def test_records_of_a_log_append_time_batch_all_have_its_time() -> None:
    records = [NewRecord(value=b"", timestamp=5), NewRecord(value=b"", timestamp=9)]
    batch = build_batch(records, log_append_time=True)
    assert [record.timestamp for record in decode_records(batch)] == [9, 9]


def test_decode_records_takes_a_header_read_before() -> None:
    batch = build_batch([NewRecord(value=b"value")])
    header: BatchHeader = read_header(batch)
    assert decode_records(batch, header._replace(base_offset=77))[0].offset == 77
