"""A column sorted by schema, as reading row by row would sort it."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.registry.tags import Tagged, split
from penstock.spark.registry.wire_format import Tag, WireFormatError, build_prefix, read_tag

GUID_TAG = b"\1" + bytes(range(16))
rows = st.lists(
    st.none()
    | st.binary(max_size=8)
    | st.builds(lambda number, rest: build_prefix(number) + rest, st.integers(0, 3), st.binary(max_size=4))
    | st.binary(max_size=4).map(lambda rest: GUID_TAG + rest),
    max_size=12,
)


def records(tagged: Tagged) -> dict[int, tuple[Tag, bytes]]:
    return {
        row: (group.tag, payload)
        for group in tagged.groups
        for row, payload in zip(group.rows.tolist(), group.payloads, strict=True)
    }


@given(rows, st.booleans(), st.integers(0, 3))
def test_split_says_of_each_row_what_reading_it_alone_says(
    values: list[bytes | None], has_indexes: bool, skipped: int
) -> None:
    tagged = split(pa.array(values, pa.binary())[skipped:], has_indexes=has_indexes)
    found = records(tagged)
    for row, value in enumerate(values[skipped:]):
        if value is None:
            assert row not in found
            assert row not in tagged.reasons
        elif row in found:
            tag, end = read_tag(value, has_indexes=has_indexes)
            assert found[row] == (tag, value[end:])
        else:
            with pytest.raises(WireFormatError, match=re.escape(tagged.reasons[row])):
                read_tag(value, has_indexes=has_indexes)


def test_rows_of_a_group_are_in_their_order() -> None:
    values = [build_prefix(number % 2) + bytes([number]) for number in range(6)]
    groups = split(pa.array(values), has_indexes=False).groups
    assert [group.rows.tolist() for group in groups] == [[0, 2, 4], [1, 3, 5]]


def test_header_names_the_schema_and_leaves_the_payload_whole() -> None:
    values = pa.array([b"whole", build_prefix(3) + b"rest", b"x"])
    headers = pa.array([GUID_TAG, None, b"\7"], pa.binary())
    tagged = split(values, headers, has_indexes=False)
    found = records(tagged)
    assert found[0] == (Tag(guid="00010203-0405-0607-0809-0a0b0c0d0e0f"), b"whole")
    assert found[1] == (Tag(schema_id=3), b"rest")
    assert tagged.reasons == {
        2: "header: magic byte 7 is neither 0 nor 1: not written with a registry's schema"
    }


@pytest.mark.parametrize("values", [pa.array([], pa.binary()), pa.nulls(3, pa.binary())])
def test_nothing_is_in_no_group(values: pa.Array) -> None:
    tagged = split(values, has_indexes=True)
    assert not tagged.groups
    assert not tagged.reasons


def test_large_binary_is_taken_too() -> None:
    tagged = split(pa.array([build_prefix(9) + b"a"], pa.large_binary()), has_indexes=False)
    assert records(tagged) == {0: (Tag(schema_id=9), b"a")}
