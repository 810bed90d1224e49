"""What is refused of a new Avro schema, and where."""

import json
from typing import Any

import pytest

from penstock.schemas import InvalidSchema, SchemaKind, parse


def record(*fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def field(type_: Any, **more: Any) -> dict[str, Any]:
    return {"name": "a", "type": type_, **more}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (["int", "int"], "/1: the union has two branches of int"),
        ([{"type": "array", "items": "int"}, {"type": "array", "items": "long"}], "two branches of array"),
        (["int", ["null"]], "/1: a union directly within a union"),
        ([{"type": "fixed", "name": "F", "size": 1}, "F"], "/1: the union has two branches of F"),
        (record(field("int"), name="my-record"), "'my-record' is no Avro name"),
        (record(field("int"), namespace="a..b"), "'a..b' is no namespace"),
        (record(field("int"), name="string"), "cannot be named 'string'"),
        (record(field("int", name="a b")), "/fields/0: field 'a b' is no Avro name"),
        (record(field("int"), field("long")), "field of R 'a' is there 2 times"),
        (record(field("int", aliases=["b.c"])), "/fields/0: alias 'b.c' is no"),
        (record(field("int", order="up")), "/fields/0: the order 'up' is none of ascending"),
        (record(field("int", default="x")), "'a': the default 'x' is no int"),
        (record(field("int", default=2**31)), "an int has 32 bits"),
        (record(field({"type": "fixed", "name": "F", "size": 2}, default="x")), "1 bytes long, not 2"),
        (record(field({"type": "array", "items": "int"}, default="x")), "is no array of int"),
        (
            record(field({"type": "map", "values": ["int", ["null"]]})),
            "/fields/0/type/values/1: a union directly",
        ),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "symbol 'A' is there 2 times"),
        ({"type": "enum", "name": "E", "symbols": ["A-B"]}, "symbol 'A-B' is no"),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "default 'B' of enum E is none"),
        ({"type": "enum", "name": "E", "symbols": "A"}, "The symbols of E are no list"),
        ({"type": "fixed", "name": "F", "size": -1}, "size of fixed 'F' is -1"),
        ({"type": "fixed", "name": "F", "size": "2"}, "size of fixed 'F' is \"2\""),
        ({"type": "fixed", "name": 5, "size": 2}, "name of an Avro type is no text"),
        (record(5), "A field of record 'R' is no object"),
        (5, "no Avro schema"),
        ({"type": 5}, "no Avro schema"),
    ],
)
def test_schema_that_is_none_is_refused_at_its_place(schema: Any, words: str) -> None:
    with pytest.raises(InvalidSchema, match=words):
        parse(SchemaKind.AVRO, json.dumps(schema))


def test_type_of_two_references_is_refused() -> None:
    one = json.dumps({"type": "fixed", "name": "F", "size": 1})
    with pytest.raises(InvalidSchema, match="'F' is defined twice"):
        parse(SchemaKind.AVRO, '"F"', resolve={"a": one, "b": one})


def test_references_that_need_each_other_are_refused() -> None:
    texts = {
        name: json.dumps({"type": "record", "name": name, "fields": [{"name": "x", "type": other}]})
        for name, other in (("A", "B"), ("B", "A"))
    }
    # B is needed while A is being defined, of which only the name is known then: B may contain it.
    assert parse(SchemaKind.AVRO, '["A","B"]', resolve=texts).text == '["A","B"]'
    del texts["B"]
    with pytest.raises(InvalidSchema, match="'B' is used but nowhere defined"):
        parse(SchemaKind.AVRO, '"A"', resolve=texts)
