"""Formats of ``penstock consume``: fields, escapes, and bytes that are no text."""

import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.consume.record_format import compile_format, json_fields
from penstock.model.errors import UsageError


def record(**changes: object) -> Message:
    fields: dict[str, object] = {
        "topic": "orders",
        "partition": 3,
        "offset": 42,
        "key": b"alice",
        "value": b"one",
        "headers": [("a", b"1"), ("b", None)],
        "timestamp": (1, 1700),
    }
    return Message(**{**fields, **changes})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%t/%p@%o %k %v\\n", b"orders/3@42 alice one\n"),
        ("%s|%S|%K", b"one|3|5"),
        ("%h", b"a=1,b=NULL"),
        ("%T", b"1700"),
        ("100%%", b"100%"),
        (r"a\tb\x41\\", b"a\tbA\\"),
        (r"\q", rb"\q"),
        ("", b""),
    ],
)
def test_format_each_field_and_escape_is_replaced(text: str, expected: bytes) -> None:
    assert compile_format(text)(record()) == expected


def test_format_null_key_and_value_print_nothing_but_size_minus_one() -> None:
    assert compile_format("[%k][%v]%K %S")(record(key=None, value=None)) == b"[][]-1 -1"


@pytest.mark.parametrize("text", ["%q", "abc%"])
def test_format_unknown_field_is_refused_naming_the_known_ones(text: str) -> None:
    with pytest.raises(UsageError, match=r"unknown field.*%t %p %o"):
        compile_format(text)


@given(st.binary())
def test_format_value_bytes_leave_unchanged(value: bytes) -> None:
    assert compile_format("%v")(record(value=value)) == value


def test_json_fields_text_is_text_and_binary_is_base64() -> None:
    fields = json_fields(record(key=b"\xff", headers=[]))

    assert fields["value"] == "one"
    assert fields["key_base64"] == "/w=="
    assert "key" not in fields


def test_json_fields_record_without_timestamp_has_null() -> None:
    assert json_fields(record(timestamp=(0, -1)))["timestamp"] is None
