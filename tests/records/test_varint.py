"""Zigzag integers against the published examples and each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.errors import CorruptBatchError
from penstock.records.varint import encode_varint, read_varint, read_varlong


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, b"\x00"),
        (-1, b"\x01"),
        (1, b"\x02"),
        (63, b"\x7e"),
        (-64, b"\x7f"),
        (64, b"\x80\x01"),
        (-65, b"\x81\x01"),
        (2**31 - 1, b"\xfe\xff\xff\xff\x0f"),
        (-(2**31), b"\xff\xff\xff\xff\x0f"),
    ],
)
def test_varint_of_a_known_value_has_the_known_bytes(value: int, encoded: bytes) -> None:
    assert encode_varint(value) == encoded
    assert read_varint(encoded + b"\xff", 0) == (value, len(encoded))


@given(st.integers(-(2**31), 2**31 - 1), st.binary(max_size=3))
def test_varint_of_any_32_bit_value_reads_back(value: int, before: bytes) -> None:
    encoded = encode_varint(value)
    assert len(encoded) <= 5
    assert read_varint(before + encoded, len(before)) == (value, len(before) + len(encoded))


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlong_of_any_64_bit_value_reads_back(value: int) -> None:
    encoded = encode_varint(value)
    assert len(encoded) <= 10
    assert read_varlong(encoded, 0) == (value, len(encoded))


def test_varint_of_six_bytes_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="longer than 5 bytes"):
        read_varint(b"\x80" * 5 + b"\x01", 0)


def test_varint_with_more_than_32_bits_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="32 bits"):
        read_varint(b"\xff\xff\xff\xff\x1f", 0)


def test_varlong_of_eleven_bytes_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="longer than 10 bytes"):
        read_varlong(b"\x80" * 10 + b"\x01", 0)


def test_varlong_with_more_than_64_bits_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="64 bits"):
        read_varlong(b"\xff" * 9 + b"\x03", 0)


def test_varint_that_is_cut_short_raises_index_error() -> None:
    with pytest.raises(IndexError):
        read_varint(b"\x80", 0)
