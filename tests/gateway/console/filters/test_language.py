"""Filters as people type them, against messages that match and messages that do not."""

import json
from typing import Any

import pytest

from penstock.gateway.console.filters.candidate import MISSING, Candidate
from penstock.gateway.console.filters.errors import FilterError
from penstock.gateway.console.filters.language import DEPTH_MAX, FILTER_CHARACTERS_MAX, compile_filter
from penstock.records.record import Record

ORDER = {"order": {"total": 120.5, "paid": True, "note": None}, "items": [{"sku": "A-1"}, {"sku": "B-2"}]}


def candidate(
    value: Any = ORDER, *, key: bytes | None = b"Alice", partition: int = 3, decode: Any = None
) -> Candidate:
    raw = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    headers = (("trace-id", b"7F3a"), ("empty", None))
    record = Record(offset=42, timestamp=1_700_000_000_000, key=key, value=raw, headers=headers)
    return Candidate(partition, record, decode or (lambda _: MISSING))


def is_wanted(text: str, message: Candidate | None = None) -> bool:
    wanted = compile_filter(text)
    assert wanted is not None
    return wanted(message or candidate())


@pytest.mark.parametrize(
    "text",
    [
        "alice",
        "a-1",
        "7F3A",
        '"total"',
        "key:ALI",
        "key = Alice",
        "key != Bob",
        "key ~ ^al.ce$",
        "value:b-2",
        "header.trace-id:3A",
        'header["trace-id"] = 7F3a',
        "headers.trace-id",
        "header.empty",
        "partition = 3",
        "offset >= 42",
        "offset<43",
        "timestamp > 2023-11-14T00:00",
        "timestamp <= 1700000000000",
        "size > 10",
        "$.order.total > 100",
        "$.order.total>=120.5",
        "$.order.total = 120.5",
        "$.order.paid = true",
        "$.order.note = null",
        "$.order.total != 7",
        "$.items[0].sku = A-1",
        "$.items[*].sku: b-",
        '$["items"][1]["sku"] ~ "^B"',
        "$.order.paid",
        "not bob",
        "not (bob or carol)",
        "bob or alice",
        "alice and $.order.total > 100",
        "alice $.order.total > 100",
        "nobody or (alice not bob)",
        "ALICE AND NOT bob",
    ],
)
def test_message_that_a_filter_describes_is_wanted(text: str) -> None:
    assert is_wanted(text)


@pytest.mark.parametrize(
    "text",
    [
        "bob",
        "key:bob",
        "key = alice",
        "key = null",
        "value = null",
        "header.other",
        "header.empty:x",
        "partition = 2",
        "$.order.total > 120.5",
        "$.order.total > high",
        "$.order.paid = 1",
        "$.order.note",
        "$.order.missing != 1",
        "$.items[7].sku = A-1",
        "$.total > 1",
        "$key.name = x",
        "alice bob",
        "not alice",
        "alice and (bob or carol)",
    ],
)
def test_message_that_a_filter_does_not_describe_is_not_wanted(text: str) -> None:
    assert not is_wanted(text)


def test_an_empty_filter_wants_everything() -> None:
    assert compile_filter("  ") is None


def test_json_keys_have_paths_too() -> None:
    assert is_wanted("$key.id = 7", candidate(key=b'{"id": 7}'))


def test_a_name_that_the_writer_escaped_is_still_found() -> None:
    assert is_wanted("$.total = 5", candidate(rb'{"tot\u0061l": 5}'))


def test_text_beyond_ascii_is_found_whatever_its_case_and_however_it_was_escaped() -> None:
    assert is_wanted("MÜNCHEN", candidate("münchen".encode()))
    assert is_wanted("MÜNCHEN", candidate(rb'{"city": "m\u00fcnchen"}'))
    assert not is_wanted("münster", candidate(rb'{"city": "m\u00fcnchen"}'))


def test_payload_with_a_schema_is_looked_into_after_decoding() -> None:
    framed = candidate(b"\x00\x00\x00\x00\x07binary", decode=lambda _: {"status": "SHIPPED", "n": 3})
    assert is_wanted("shipped", framed)
    assert is_wanted("$.n > 2", framed)
    assert not is_wanted("$.n > 3", framed)


def test_payload_that_cannot_be_decoded_matches_by_its_bytes_only() -> None:
    framed = candidate(b"\x00\x00\x00\x00\x07binary")
    assert is_wanted("BINARY", framed)
    assert not is_wanted("$.n > 2", framed)


def test_values_that_are_no_json_or_nested_too_deep_do_not_match_paths() -> None:
    assert not is_wanted("$.a = 1", candidate(b'{"a": 1'))
    assert not is_wanted("$.a = 1", candidate(b'{"a":' * 100_000))
    assert not is_wanted("$.a = 1", candidate(None))


@pytest.mark.parametrize(
    ("text", "said", "position"),
    [
        ("total > 100", "needs a field before it", 6),
        ("total>100", r"write \$\.total", 0),
        ("country:DE", r"write \$\.country", 0),
        ("(alice", "never closed", 0),
        ("alice)", "never opened", 5),
        ("key =", "compared with", 5),
        ("alice or", "missing", 8),
        ("and alice", "missing", 0),
        ("offset > soon", "a number", 7),
        ("timestamp > soon", "a time such as", 10),
        ("$.a < true", "have none", 4),
        ("key < a", "no order", 4),
        ("value ~ '('", "missing", 6),
        ("offset ~ 3", "it is for text", 7),
    ],
)
def test_a_filter_that_makes_no_sense_is_told_where_and_why(text: str, said: str, position: int) -> None:
    with pytest.raises(FilterError, match=said) as told:
        compile_filter(text)
    assert told.value.position == position


def test_words_that_only_look_like_fields_are_text() -> None:
    assert is_wanted("http://x?a=b", candidate(b"see http://x?a=b"))
    assert is_wanted('"a=b"', candidate(b"a=b"))
    assert is_wanted("value:a=b", candidate(b"a=b"))
    assert is_wanted("12:30:59", candidate(b"at 12:30:59"))
    assert is_wanted("key", candidate(b"the key"))


@pytest.mark.parametrize(
    "text", ["x" * (FILTER_CHARACTERS_MAX + 1), "(" * (DEPTH_MAX + 1), "not " * 30 + "x", "x " * 300]
)
def test_filters_have_bounds(text: str) -> None:
    with pytest.raises(FilterError, match="at most"):
        compile_filter(text)
