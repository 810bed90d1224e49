"""Keys and values as JSON and back."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway.rest.records.formats import Format, Told, dump, encode, tell_key, tell_value


@given(st.binary(max_size=200))
def test_what_is_told_can_be_sent_again(data: bytes) -> None:
    for told in (tell_key(data, Format.AUTO), tell_value(data, Format.BINARY)):
        sent = json.loads(dump(told.data))
        assert encode(sent, told.format, what="value") == data


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=20))
def test_json_comes_back_as_it_was(document: Any) -> None:
    data = encode(document, Format.JSON, what="value")

    assert (data is None) == (document is None)
    assert tell_value(data, Format.JSON).data == document


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":1}', Format.JSON),
        (b"17", Format.JSON),
        (b"plain", Format.STRING),
        (b"", Format.STRING),
        (b"NaN", Format.STRING),
        (b"1e999", Format.STRING),
        (b"[" * 100_000, Format.STRING),
        (b"9" * 5000, Format.STRING),
        (b"\xff\xfe", Format.BINARY),
        (b"\x00\x00\x00\x00\x05avro", Format.BINARY),
        (b'"\\ud800"', Format.JSON),
    ],
)
def test_values_are_told_as_the_first_that_fits(data: bytes, expected: Format) -> None:
    told = tell_value(data, Format.AUTO)

    assert told.format is expected
    assert json.loads(dump(told.data)) == told.data


def test_value_that_is_not_of_the_format_asked_for_is_told_as_base64() -> None:
    assert tell_value(b"\xff", Format.JSON) == Told(b64encode(b"\xff").decode(), Format.BINARY)
