"""The one way in: bounds, and what no kind can be asked."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.limits import SCHEMA_REFERENCES_MAX, SCHEMA_TEXT_LENGTH_MAX
from penstock.schemas import (
    Direction,
    InvalidSchema,
    ParsedSchema,
    Reference,
    SchemaKind,
    check,
    formatted_text,
    parse,
)

KINDS = list(SchemaKind)
SMALL = {
    SchemaKind.AVRO: '"int"',
    SchemaKind.JSON: '{"type":"integer"}',
    SchemaKind.PROTOBUF: 'syntax = "proto3"; message M { int32 x = 1; }',
}


@pytest.mark.parametrize("kind", KINDS)
def test_small_schema_is_what_it_is(kind: SchemaKind) -> None:
    schema = parse(kind, SMALL[kind])
    assert (schema.kind, schema.text, schema.references) == (kind, SMALL[kind], ())
    assert formatted_text(schema, "") == schema.text
    assert check(kind, new=schema, old=parse(kind, SMALL[kind]), direction=Direction.FULL) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", " ", "{", "[", "\0", "\ud800", '"\ud800"', "nul", "[]]", "{}}", "5"])
def test_text_that_is_nothing_is_refused(kind: SchemaKind, text: str) -> None:
    with pytest.raises(InvalidSchema):
        parse(kind, text)


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_is_too_long_is_refused(kind: SchemaKind) -> None:
    with pytest.raises(InvalidSchema, match=f"1000001 characters; the limit is {SCHEMA_TEXT_LENGTH_MAX}"):
        parse(kind, " " * (SCHEMA_TEXT_LENGTH_MAX + 1))


def _deep_avro(depth: int) -> str:
    return '{"type":"array","items":' * depth + '"int"' + "}" * depth


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SchemaKind.AVRO, _deep_avro(20_000)),
        (SchemaKind.AVRO, _deep_avro(201)),
        (SchemaKind.JSON, '{"not":' * 20_000 + "true" + "}" * 20_000),
        (SchemaKind.PROTOBUF, "message M {" * 5_000 + "}" * 5_000),
    ],
)
def test_text_that_is_nested_too_deeply_is_refused(kind: SchemaKind, text: str) -> None:
    with pytest.raises(InvalidSchema, match=r"nested (too deeply|more than)"):
        parse(kind, text)


def test_chain_of_references_too_long_to_follow_is_refused() -> None:
    def chain(last: str) -> ParsedSchema:
        fields = [last, *(f"R{number}" for number in range(899))]
        texts = {
            f"R{number}": json.dumps(
                {"type": "record", "name": f"R{number}", "fields": [{"name": "x", "type": each}]}
            )
            for number, each in enumerate(fields)
        }
        return parse(SchemaKind.AVRO, '"R899"', resolve=texts)

    old, new = chain("int"), chain("long")
    with pytest.raises(InvalidSchema, match="too deeply to be compared"):
        check(SchemaKind.AVRO, new=new, old=old, direction=Direction.BACKWARD)
    with pytest.raises(InvalidSchema, match="too far to be written as 'resolved'"):
        formatted_text(old, "resolved")


def test_references_are_bounded_and_must_be_there() -> None:
    many = {f"r{number}": '"int"' for number in range(SCHEMA_REFERENCES_MAX + 1)}
    with pytest.raises(InvalidSchema, match=f"refers to 1001 others.*limit is {SCHEMA_REFERENCES_MAX}"):
        parse(SchemaKind.AVRO, '"int"', resolve=many)
    missing = Reference(name="x", subject="s", version=3)
    with pytest.raises(InvalidSchema, match=r"'x' \(version 3 of subject 's'\) is not there"):
        parse(SchemaKind.AVRO, '"int"', references=[missing])


def test_another_kind_is_incompatible() -> None:
    avro, json_schema = (parse(kind, SMALL[kind]) for kind in (SchemaKind.AVRO, SchemaKind.JSON))
    reasons = check(SchemaKind.JSON, new=json_schema, old=avro, direction=Direction.BACKWARD)
    assert [each.kind for each in reasons] == ["SCHEMA_TYPE_CHANGED"]
    assert "the new schema is JSON and the old one AVRO" in reasons[0].message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["record", "int"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "name", "fields", "items", "values", "symbols", "size", "default", "aliases"]
            )
            | st.sampled_from(
                ["properties", "$ref", "$id", "enum", "allOf", "not", "namespace", "dependencies"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([SchemaKind.AVRO, SchemaKind.JSON]), json_values)
def test_any_json_is_a_schema_or_an_invalid_schema(kind: SchemaKind, value: Any) -> None:
    with suppress(InvalidSchema):
        parse(kind, json.dumps(value))


PROTO_WORDS = st.sampled_from(
    [
        *(
            "message",
            "M",
            "{",
            "}",
            "=",
            "1",
            ";",
            "int32",
            "x",
            "enum",
            "oneof",
            "map",
            "<",
            ">",
            ",",
            "[",
            "]",
        ),
        *(
            "option",
            "(",
            ")",
            '"a"',
            "repeated",
            "reserved",
            "to",
            "max",
            "extend",
            "group",
            "G",
            "-",
            ".",
            "//",
        ),
        *("service", "rpc", "returns", "stream", "default", "json_name", "import", "package", "syntax", "'"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PROTO_WORDS, max_size=25))
def test_any_words_are_a_file_or_an_invalid_schema(words: list[str]) -> None:
    with suppress(InvalidSchema):
        parse(SchemaKind.PROTOBUF, 'syntax = "proto2"; message M { ' + " ".join(words))
