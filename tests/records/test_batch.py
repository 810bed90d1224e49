"""Batch headers: read, compared, stamped in place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error_codes import ErrorCode
from penstock.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD,
    SEQUENCE_MAX,
    BatchHeader,
    crc_matches,
    pack_header,
    read_header,
    split_batches,
    stamp,
    stamp_log_append_time,
)
from penstock.records.builder import build_batch
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord, decode_records

# One record with key "k" and value "v" at timestamp 1700000000000, worked out by hand from the format.
KNOWN_BATCH = bytes.fromhex(
    "0000000000000000"  # base offset
    "0000003a"  # 58 bytes follow
    "ffffffff"  # no leader epoch
    "02"  # magic
    "00000000"  # checksum, filled in below
    "0000"  # attributes
    "00000000"  # last offset delta
    "0000018bcfe56800"  # first timestamp
    "0000018bcfe56800"  # largest timestamp
    "ffffffffffffffff"  # no producer id
    "ffff"  # no producer epoch
    "ffffffff"  # no sequence
    "00000001"  # one record
    "10"  # 8 bytes follow
    "00"  # attributes
    "00"  # timestamp delta
    "00"  # offset delta
    "026b"  # key
    "0276"  # value
    "00"  # no headers
)


def batch_of(count: int, **fields: int) -> bytearray:
    return build_batch([NewRecord(value=b"value %d" % index) for index in range(count)], **fields)  # type: ignore[arg-type]  # the tests pass integers only


def any_header(**fields: int) -> BatchHeader:
    return read_header(batch_of(3))._replace(**fields)


def test_builder_of_a_known_record_gives_the_bytes_worked_out_by_hand() -> None:
    batch = build_batch([NewRecord(key=b"k", value=b"v", timestamp=1_700_000_000_000)])
    assert batch[:17] == KNOWN_BATCH[:17]
    assert batch[21:] == KNOWN_BATCH[21:]


def test_header_of_a_batch_has_every_field_at_its_place() -> None:
    batch = bytearray(HEADER_BYTES)
    fields = BatchHeader(1 << 40, 49, 7, 2, 0xDEADBEEF, 0x7F, 9, -5, 1 << 41, 1 << 42, 12, 13, 10)
    pack_header(batch, fields)
    assert read_header(batch) == fields
    assert int.from_bytes(batch[0:8], "big") == 1 << 40
    assert int.from_bytes(batch[12:16], "big") == 7
    assert int.from_bytes(batch[17:21], "big") == 0xDEADBEEF
    assert int.from_bytes(batch[43:51], "big") == 1 << 42
    assert int.from_bytes(batch[57:61], "big") == 10


def test_header_names_sizes_and_offsets() -> None:
    batch = batch_of(4, base_offset=100)
    header = read_header(batch)
    assert header.size_bytes == len(batch) == LOG_OVERHEAD + header.batch_length
    assert (header.base_offset, header.last_offset, header.next_offset) == (100, 103, 104)


@pytest.mark.parametrize(
    ("bit", "name"),
    [
        (0x08, "is_log_append_time"),
        (0x10, "is_transactional"),
        (0x20, "is_control"),
        (0x40, "has_delete_horizon"),
    ],
)
def test_header_attribute_bit_sets_its_own_property_only(bit: int, name: str) -> None:
    names = ["is_log_append_time", "is_transactional", "is_control", "has_delete_horizon"]
    header = any_header(attributes=bit | 3)
    assert [each for each in names if getattr(header, each)] == [name]
    assert header.codec == 3


def test_header_last_sequence_wraps_to_zero_after_the_largest() -> None:
    assert any_header(base_sequence=SEQUENCE_MAX - 1, last_offset_delta=2).last_sequence == 0
    assert any_header(base_sequence=SEQUENCE_MAX, last_offset_delta=0).last_sequence == SEQUENCE_MAX


def test_header_without_a_producer_has_no_sequence() -> None:
    header = any_header(base_sequence=-1, last_offset_delta=2)
    assert header.last_sequence == -1
    assert not header.has_producer_id
    assert any_header(producer_id=0).has_producer_id


@pytest.mark.parametrize("length", [0, 1, HEADER_BYTES - 1])
def test_read_header_of_too_few_bytes_is_refused(length: int) -> None:
    with pytest.raises(CorruptBatchError, match="too few") as caught:
        read_header(batch_of(1)[:length])
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [0, 1, 3, 255])
def test_read_header_of_another_magic_is_refused(magic: int) -> None:
    batch = batch_of(1)
    batch[16] = magic
    with pytest.raises(CorruptBatchError, match="magic"):
        read_header(batch)


@pytest.mark.parametrize("length", [-1, 0, 48])
def test_read_header_of_a_length_below_the_header_is_refused(length: int) -> None:
    batch = batch_of(1)
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(CorruptBatchError, match="length"):
        read_header(batch)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_crc_of_an_intact_batch_matches_in_any_kind_of_buffer(kind: type[bytes]) -> None:
    buffer = kind(b"before" + batch_of(3) + b"after")
    assert crc_matches(buffer, read_header(buffer, 6), 6)


@given(st.data())
def test_crc_of_a_batch_with_any_flipped_bit_in_its_range_does_not_match(data: st.DataObject) -> None:
    batch = batch_of(3)
    header = read_header(batch)
    position = data.draw(st.integers(21, len(batch) - 1))
    batch[position] ^= 1 << data.draw(st.integers(0, 7))
    assert not crc_matches(batch, header)


def test_crc_of_a_cut_batch_does_not_match() -> None:
    batch = batch_of(3)
    assert not crc_matches(batch[:-1], read_header(batch))


@given(st.integers(0, 2**63 - 1), st.integers(-1, 2**31 - 1), st.integers(0, 9))
def test_stamp_changes_offset_and_epoch_and_keeps_the_crc(offset: int, epoch: int, position: int) -> None:
    before = read_header(batch_of(3))
    buffer = bytearray(position) + batch_of(3)
    stamp(memoryview(buffer), offset, epoch, position)
    header = read_header(buffer, position)
    assert header == before._replace(base_offset=offset, leader_epoch=epoch)
    assert crc_matches(buffer, header, position)


def test_stamp_log_append_time_sets_bit_time_and_crc() -> None:
    batch = batch_of(3)
    stamp_log_append_time(batch, 12345)
    header = read_header(batch)
    assert header.is_log_append_time
    assert header.max_timestamp == 12345
    assert crc_matches(batch, header)
    assert {record.timestamp for record in decode_records(batch)} == {12345}


def test_split_batches_gives_each_with_its_position() -> None:
    first, second = batch_of(2), batch_of(5)
    found = list(split_batches(first + second))
    assert [position for position, _ in found] == [0, len(first)]
    assert [header.record_count for _, header in found] == [2, 5]


@given(st.integers(0, 200))
def test_split_batches_stops_at_a_truncated_tail(cut: int) -> None:
    first, second = batch_of(2), batch_of(5)
    buffer = (first + second)[: len(first) + min(cut, len(second) - 1)]
    assert [header.record_count for _, header in split_batches(memoryview(buffer))] == [2]


def test_split_batches_of_rubbish_is_refused() -> None:
    with pytest.raises(CorruptBatchError):
        list(split_batches(bytes(100)))
