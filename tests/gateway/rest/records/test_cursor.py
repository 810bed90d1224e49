"""Cursors as text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway.errors import GatewayError
from penstock.gateway.rest.records.cursor import OFFSET_MAX, PARTITION_MAX, Cursor, parse_cursor

POSITIONS = st.dictionaries(st.integers(0, PARTITION_MAX), st.integers(0, OFFSET_MAX), min_size=1, max_size=9)


@given(POSITIONS, st.booleans())
def test_cursor_comes_back_as_it_was(positions: dict[int, int], has_others: bool) -> None:
    cursor = Cursor(positions=positions, has_others=has_others)

    assert parse_cursor(str(cursor)) == cursor


def test_star_alone_is_a_cursor() -> None:
    assert parse_cursor("*") == Cursor(positions={}, has_others=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0:",
        ":1",
        "0:1,",
        "0:-1",
        "0:1;1:2",
        "0:1,0:1",
        "٣:1",
        f"0:{OFFSET_MAX + 1}",
        "99999999999:1",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(GatewayError) as refused:
        parse_cursor(text)

    assert refused.value.status == 422
