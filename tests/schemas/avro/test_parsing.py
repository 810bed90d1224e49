"""Avro schemas into trees of types."""

from typing import Any

import pytest

from penstock.schemas.avro.parsing import load, parse_types
from penstock.schemas.avro.schema import (
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
)
from penstock.schemas.errors import InvalidSchema

LONG = Primitive(kind="long")


def parsed(schema: Any, references: dict[str, Any] | None = None) -> AvroType:
    return parse_types(schema, references or {}).root


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


@pytest.mark.parametrize("text", ['"long"', "long", '{"type": "long"}', '{"type": {"type": "long"}}'])
def test_primitive_is_written_in_several_ways(text: str) -> None:
    assert parse_types(load(text), {}).root == LONG


def test_names_are_resolved_within_their_namespaces() -> None:
    inner = {"type": "fixed", "name": "Inner", "size": 2}
    tree = parsed(
        record(
            {"name": "a", "type": inner},
            {"name": "b", "type": {"type": "array", "items": "Inner"}},
            {"name": "c", "type": {"type": "map", "values": "x.Inner"}},
            namespace="x",
        )
    )
    fixed = Fixed(name="x.Inner", size=2)
    assert tree == Record(
        name="x.R",
        fields=(
            Field(name="a", type=fixed),
            Field(name="b", type=Array(items=fixed)),
            Field(name="c", type=Map(values=fixed)),
        ),
    )


def test_types_of_references_are_known() -> None:
    address = {"type": "enum", "name": "shop.Colour", "symbols": ["RED"], "default": "RED", "aliases": ["C"]}
    tree = parsed(["null", "shop.Colour"], {"shop.Colour": address})
    colour = Enumeration(name="shop.Colour", symbols=("RED",), default="RED", aliases=("shop.C",))
    assert tree == Union(branches=(Primitive(kind="null"), colour))


@pytest.mark.parametrize(
    ("schema", "logical"),
    [
        ({"type": "int", "logicalType": "date"}, Logical(name="date")),
        ({"type": "long", "logicalType": "timestamp-millis"}, Logical(name="timestamp-millis")),
        ({"type": "int", "logicalType": "timestamp-millis"}, None),
        ({"type": "string", "logicalType": "never-heard-of"}, None),
        ({"type": "bytes", "logicalType": "decimal"}, None),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 4}, None),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4},
            Logical(name="decimal", precision=9, scale=4),
        ),
    ],
)
def test_logical_type_counts_only_where_it_fits(schema: Any, logical: Logical | None) -> None:
    tree = parsed(schema)
    assert isinstance(tree, Primitive)
    assert tree.logical == logical


@pytest.mark.parametrize(
    ("type_", "default", "value"),
    [
        ("bytes", "\u00ff\u0001", b"\xff\1"),
        ({"type": "fixed", "name": "F", "size": 1}, "\u00ff", b"\xff"),
        ("double", 1, 1.0),
        (["null", "long"], None, None),
        (["null", "long"], 5, 5),
        ({"type": "array", "items": "bytes"}, ["a"], [b"a"]),
        ({"type": "map", "values": "float"}, {"x": 2}, {"x": 2.0}),
        (
            {
                "type": "record",
                "name": "In",
                "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int", "default": 3}],
            },
            {"x": 1},
            {"x": 1, "y": 3},
        ),
    ],
)
def test_default_is_a_value_of_its_type(type_: Any, default: Any, value: Any) -> None:
    tree = parsed(record({"name": "a", "type": type_, "default": default}))
    assert isinstance(tree, Record)
    assert tree.fields[0].default == value
    assert type(tree.fields[0].default) is type(value)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("Nowhere", "nowhere defined"),
        ({"name": "x"}, "no Avro schema"),
        ({"type": "array"}, "lacks 'items'"),
        (record({"name": "a"}), "lacks 'type'"),
        (record({"name": "a", "type": "long", "default": "x"}), "'a': the default 'x' is no long"),
        (record({"name": "a", "type": "long", "default": True}), "is no long"),
        (record({"name": "a", "type": ["null", "long"], "default": "x"}), "no branch"),
        (record({"name": "a", "type": record()}), "defined twice"),
        (
            record({"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"]}, "default": "B"}),
            "symbols are A",
        ),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, words: str) -> None:
    with pytest.raises(InvalidSchema, match=words):
        parsed(schema)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="not the JSON of an Avro schema"):
        load("syntax = 'proto3';")
