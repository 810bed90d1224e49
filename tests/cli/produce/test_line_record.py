"""What lines of input mean."""

import json

import pytest

from penstock.cli.failure import CommandFailed
from penstock.cli.produce.input_lines import Line
from penstock.cli.produce.line_record import Defaults, LineRecord, json_parser, text_parser


def line(text: str | bytes) -> Line:
    return Line("lines.txt", 7, text if isinstance(text, bytes) else text.encode())


def from_json(value: object) -> LineRecord:
    return json_parser(Defaults())(line(json.dumps(value)))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a:1", b"a", b"1"),
        ("a:1:2", b"a", b"1:2"),
        ("plain", None, b"plain"),
        (":x", b"", b"x"),
        ("a:", b"a", b""),
    ],
)
def test_text_line_is_parted_at_the_first_separator(text: str, key: bytes | None, value: bytes) -> None:
    record = text_parser(Defaults(), key_separator=":", empty_is_null=False)(line(text))

    assert (record.key, record.value) == (key, value)


def test_text_line_without_a_value_is_a_tombstone_if_asked_for() -> None:
    parse = text_parser(Defaults(partition=3), key_separator=":", empty_is_null=True)

    assert parse(line("a:")) == LineRecord(key=b"a", value=None, partition=3)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"value": "text"}, b"text"),
        ({"value": "é"}, "é".encode()),
        ({"value": {"a": [1, 2.5]}}, b'{"a":[1,2.5]}'),
        ({"value": 7}, b"7"),
        ({"value": True}, b"true"),
        ({"value": None}, None),
        ({}, None),
        ({"value_base64": "/w=="}, b"\xff"),
    ],
)
def test_json_value_is_text_as_it_is_or_json(fields: dict[str, object], value: bytes | None) -> None:
    assert from_json(fields).value == value


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, ()),
        ({"a": "1", "b": None}, (("a", b"1"), ("b", None))),
        ([{"name": "a", "value": "1"}, {"name": "a", "value_base64": "/w=="}], (("a", b"1"), ("a", b"\xff"))),
    ],
)
def test_json_headers_are_an_object_or_a_list(headers: object, expected: object) -> None:
    assert from_json({"headers": headers}).headers == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "it is no object"),
        ('{"vlaue": 1}', "nothing is called 'vlaue'"),
        ('{"partition": -2}', "partition -2 is no number from 0"),
        ('{"partition": 2147483648}', "partition 2147483648 is no number from 0 to 2147483647"),
        ('{"timestamp": 9223372036854775808}', "is no number from 0 to 9223372036854775807"),
        ('{"partition": true}', "partition True is no number"),
        ('{"timestamp": "now"}', "timestamp 'now' is no number"),
        ('{"headers": [1]}', "headers are neither"),
        ('{"headers": {"\\ud800": "half a character"}}', r"'\ud800' is no name of a header"),
        ('{"headers": [{"name": "a\\u0000b", "value": "cut"}]}', "is no name of a header"),
        ('{"value_base64": "!"}', "is no record in JSON"),
        ('{"value_base64": 5}', "5 is no base64"),
        ('{"key_base64": null}', "None is no base64"),
        (b"\xff", "is no record in JSON"),
    ],
)
def test_json_line_that_is_no_record_is_refused_naming_it(text: str | bytes, said: str) -> None:
    with pytest.raises(CommandFailed, match=r"lines\.txt, line 7 is no record in JSON") as refused:
        json_parser(Defaults())(line(text))
    assert said in str(refused.value)
