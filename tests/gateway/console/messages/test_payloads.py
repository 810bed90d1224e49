"""Payloads as people read them, and files of them; from bytes alone."""

import base64
import json

import pytest

from penstock.gateway.console.messages.export import csv_line, json_line
from penstock.gateway.console.messages.payloads import PREVIEW, PREVIEW_CHARACTERS_MAX, WHOLE, told_payload
from penstock.gateway.console.messages.reading import Located
from penstock.gateway.payloads.decoded import Decoded, UndecodableError
from penstock.records.record import Record

FRAMED = b"\x00\x00\x00\x00\x07data"


def decode(payload: bytes) -> Decoded:
    if payload != FRAMED:
        raise UndecodableError("The registry has no such schema.")
    return Decoded(document={"a": 1}, kind="avro", schema_id=7)


@pytest.mark.parametrize(
    ("payload", "kind", "text"),
    [
        (b'{"a": 1e400}', "json", '{"a": 1e400}'),
        (b"[1, 2]", "json", "[1, 2]"),
        (b"{not json", "text", "{not json"),
        (b"12", "text", "12"),
        (b"", "text", ""),
        ("žluť\n".encode(), "text", "žluť\n"),
        (FRAMED, "avro", '{"a": 1}'),
        (b"\xff\xfe", "binary", None),
        (b"a\x07b", "binary", None),
    ],
)
def test_payloads_are_told_by_what_they_are(payload: bytes, kind: str, text: str | None) -> None:
    told = told_payload(payload, decode, PREVIEW)
    assert (told["kind"], told.get("text"), told["bytes"]) == (kind, text, len(payload))
    assert ("base64" in told) == (text is None)


def test_no_payload_is_told_as_null() -> None:
    assert told_payload(None, decode, WHOLE) == {"kind": "null", "bytes": 0}


@pytest.mark.parametrize("number", [42, -1, 2**40])
def test_numbers_of_eight_bytes_are_told_as_numbers(number: int) -> None:
    told = told_payload(number.to_bytes(8, "big", signed=True), decode, PREVIEW)
    assert told["number"] == str(number)
    assert ("problem" in told) == (number == 2**40)


def test_long_text_is_cut_in_lists_and_whole_alone() -> None:
    payload = b"x" * (PREVIEW_CHARACTERS_MAX + 1)
    assert told_payload(payload, decode, PREVIEW)["is_cut"]
    whole = told_payload(payload, decode, WHOLE)
    assert "is_cut" not in whole
    assert base64.b64decode(whole["base64"]) == payload


def test_header_values_are_never_taken_for_schemas() -> None:
    assert told_payload(FRAMED, None, PREVIEW)["kind"] == "binary"


def located(key: bytes | None, value: bytes | None) -> Located:
    record = Record(offset=3, timestamp=1_700_000_000_000, key=key, value=value, headers=(("h", None),))
    return Located(1, record)


@pytest.mark.parametrize(
    ("value", "exported"),
    [
        (b'{"a":\n 1}', {"a": 1}),
        (b"text\nof two lines", "text\nof two lines"),
        (b"\xff", {"base64": "/w=="}),
        (FRAMED, {"a": 1}),
        (b"\x00\x00\x00\x00\x08x", {"base64": base64.b64encode(b"\x00\x00\x00\x00\x08x").decode()}),
        (None, None),
    ],
)
def test_json_lines_lose_nothing_and_are_one_line_each(value: bytes | None, exported: object) -> None:
    line = json_line(located(b"k", value), decode)
    assert line.count("\n") == 1
    told = json.loads(line)
    assert told["value"] == exported
    assert (told["partition"], told["offset"], told["key"], told["headers"]) == (1, 3, "k", [["h", None]])


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_csv_lets_no_spreadsheet_run_what_a_message_says(formula: str) -> None:
    assert f"'{formula}" in csv_line(located(None, formula.encode()), decode)
