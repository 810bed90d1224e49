"""Variable-length integers by the column, against those of single records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.varint import encode_varint
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.varints import (
    read_varints,
    read_varlongs,
    varint_column,
    varint_sizes,
    zigzag,
)

EDGES = [0, 63, 64, 8191, 8192, 2**20, 2**31 - 1, 2**62, 2**63 - 1]
longs = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(EDGES + [-edge - 1 for edge in EDGES])


@given(st.lists(longs))
def test_written_columns_are_single_integers_one_after_another(values: list[int]) -> None:
    raw = zigzag(np.array(values, np.int64))
    sizes = varint_sizes(raw)
    expected = [encode_varint(value) for value in values]
    assert sizes.tolist() == [len(one) for one in expected]
    assert varint_column(raw, sizes).to_pylist() == expected


@given(st.lists(longs, min_size=1))
def test_read_columns_are_what_was_written(values: list[int]) -> None:
    encoded = [encode_varint(value) for value in values]
    ends = np.cumsum([len(one) for one in encoded])
    octets = np.frombuffer(b"".join(encoded), np.uint8)
    found, after = read_varlongs(octets, np.append(0, ends[:-1]))
    assert found.tolist() == values
    assert after.tolist() == ends.tolist()


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_read_columns_of_32_bits_are_what_was_written(values: list[int]) -> None:
    encoded = [encode_varint(value) for value in values]
    ends = np.cumsum([len(one) for one in encoded])
    found, _ = read_varints(np.frombuffer(b"".join(encoded), np.uint8), np.append(0, ends[:-1]))
    assert found.tolist() == values


@pytest.mark.parametrize("long_every", [1, 2, 7, 9, 100])
@pytest.mark.parametrize("long", [-65, 8191, 8192, 2**31 - 1])
def test_read_columns_are_what_was_written_however_many_go_on(long: int, long_every: int) -> None:
    values = [1 if row % long_every else long for row in range(200)]
    encoded = [encode_varint(value) for value in values]
    ends = np.cumsum([len(one) for one in encoded])
    found, after = read_varints(np.frombuffer(b"".join(encoded), np.uint8), np.append(0, ends[:-1]))
    assert found.tolist() == values
    assert after.tolist() == ends.tolist()


@pytest.mark.parametrize("missing", [1, 2])
def test_column_that_is_cut_off_names_its_row(missing: int) -> None:
    encoded = encode_varint(8192) * 50
    octets = np.frombuffer(encoded[:-missing], np.uint8)
    with pytest.raises(MalformedRowError) as caught:
        read_varints(octets, np.arange(0, len(encoded), 3))
    assert caught.value.row == 49


@pytest.mark.parametrize(
    "content", [encode_varint(2**31), encode_varint(-(2**31) - 1), b"\xff" * 5, b"\xff" * 20, b"\xff\xff"]
)
def test_more_than_32_bits_name_their_row(content: bytes) -> None:
    octets = np.frombuffer(b"\0\0\0" + content, np.uint8)
    with pytest.raises(MalformedRowError) as caught:
        read_varints(octets, np.array([0, 1, 3, 2]))
    assert caught.value.row == 2


def test_position_beyond_the_end_names_its_row() -> None:
    with pytest.raises(MalformedRowError) as caught:
        read_varints(np.zeros(3, np.uint8), np.array([0, 3, 1]))
    assert caught.value.row == 1
