import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import DecodeError, InvariantError
from penstock.model.limits import TAGGED_FIELD_BYTES_MAX, TAGGED_FIELDS_MAX
from penstock.wire.primitives import (
    check_tag_count,
    encode_string_length,
    encode_uvarint,
    payload_size,
    read_tag,
    read_uuids,
    read_uvarint,
    skip_tags,
)


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_uvarint_is_read_as_written(value: int, behind: bytes) -> None:
    encoded = encode_uvarint(value)
    assert read_uvarint(memoryview(encoded + behind), 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")],
)
def test_uvarint_has_kafkas_bytes(value: int, encoded: str) -> None:
    assert encode_uvarint(value).hex() == encoded


@pytest.mark.parametrize("value", [-1, 2**32])
def test_uvarint_outside_32_bits_is_not_written(value: int) -> None:
    with pytest.raises(InvariantError):
        encode_uvarint(value)


@pytest.mark.parametrize("encoded", ["808080808001", "ffffffffff0f", "ffffffff1f"])
def test_uvarint_too_long_or_too_large_is_refused(encoded: str) -> None:
    with pytest.raises(DecodeError, match="varint"):
        read_uvarint(memoryview(bytes.fromhex(encoded)), 0)


def test_uvarint_cut_short_raises_index_error() -> None:
    with pytest.raises(IndexError):
        read_uvarint(memoryview(b"\x80"), 0)


def test_string_length_beyond_an_int16_is_not_written() -> None:
    assert encode_string_length(0x8000) == encode_uvarint(0x8000)
    with pytest.raises(InvariantError, match="32767"):
        encode_string_length(0x8001)


def test_tags_are_skipped_to_what_follows() -> None:
    view = memoryview(b"\x01\x02ab\x05\x00rest")
    assert skip_tags(view, 0, 2) == 6


@pytest.mark.parametrize("encoded", [b"\x05\x00\x05\x00", b"\x05\x00\x04\x00"])
def test_tags_that_do_not_grow_are_refused(encoded: bytes) -> None:
    with pytest.raises(DecodeError, match="follows tag 5"):
        skip_tags(memoryview(encoded), 0, 2)


def test_unknown_tag_larger_than_the_limit_is_refused_though_present() -> None:
    size = TAGGED_FIELD_BYTES_MAX + 1
    with pytest.raises(DecodeError, match="the limit"):
        skip_tags(memoryview(b"\x00" + encode_uvarint(size) + bytes(size)), 0, 1)


def test_tag_beyond_the_frame_is_refused() -> None:
    with pytest.raises(DecodeError, match="remain"):
        read_tag(memoryview(b"\x00\x05abcd"), 0, -1)


def test_tag_count_takes_from_the_budget_and_is_limited() -> None:
    assert check_tag_count(3, 10) == 7
    with pytest.raises(DecodeError, match="tagged fields"):
        check_tag_count(TAGGED_FIELDS_MAX + 1, 1000)
    with pytest.raises(DecodeError, match="too many"):
        check_tag_count(11, 10)


def test_uuids_are_read_as_raw_bytes() -> None:
    assert read_uuids(memoryview(b"-" + b"a" * 16 + b"b" * 16), 1, 2) == (b"a" * 16, b"b" * 16)


def test_payload_size_counts_bytes_of_any_payload() -> None:
    class Elsewhere:
        size = 7

    wide = memoryview(bytes(8)).cast("I")
    assert [payload_size(p) for p in (b"abc", bytearray(2), wide, Elsewhere())] == [3, 2, 8, 7]
