"""Canonical texts of Avro schemas: what registries give back, and by what two schemas are one."""

import json
from typing import Any

import pytest

from penstock.schemas import ParsedSchema, Reference, SchemaKind, formatted_text, normalized, parse


def parsed(schema: Any, **resolve: Any) -> ParsedSchema:
    texts = {name.replace("__", "."): json.dumps(each) for name, each in resolve.items()}
    references = [Reference(name=name, subject=name, version=1) for name in texts]
    return parse(SchemaKind.AVRO, json.dumps(schema), references=references, resolve=texts)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("int", '"int"'),
        ({"type": "int"}, '"int"'),
        ({"type": {"type": ["null", "int"]}}, '["null","int"]'),
        ({"logicalType": "date", "type": "int"}, '{"type":"int","logicalType":"date"}'),
        (
            {"items": "string", "type": "array", "java-class": "x"},
            '{"type":"array","items":"string","java-class":"x"}',
        ),
        (
            {"namespace": "a.b", "symbols": ["X"], "name": "E", "type": "enum", "default": "X", "doc": "d"},
            '{"type":"enum","name":"E","namespace":"a.b","doc":"d","symbols":["X"],"default":"X"}',
        ),
        (
            {"name": "a.b.F", "aliases": ["G", "a.b.H", "c.I"], "size": 2, "type": "fixed"},
            '{"type":"fixed","name":"F","namespace":"a.b","size":2,"aliases":["G","H","c.I"]}',
        ),
        (
            {
                "type": "record",
                "name": "R",
                "namespace": "n",
                "fields": [
                    {"type": {"type": "fixed", "name": "n.F", "size": 1}, "name": "f", "order": "ascending"},
                    {"type": "n.F", "name": "g", "order": "ignore", "default": "z", "doc": "ö", "tag": 1},
                    {"type": {"type": "fixed", "name": "G", "namespace": "", "size": 1}, "name": "h"},
                ],
            },
            '{"type":"record","name":"R","namespace":"n","fields":['
            '{"name":"f","type":{"type":"fixed","name":"F","size":1}},'
            '{"name":"g","type":"F","doc":"ö","default":"z","order":"ignore","tag":1},'
            '{"name":"h","type":{"type":"fixed","name":"G","namespace":"","size":1}}]}',
        ),
    ],
)
def test_text_is_as_avros_own_libraries_write_it(schema: Any, text: str) -> None:
    assert parsed(schema).text == text
    assert parsed(json.loads(text)).text == text


def test_primitive_may_stand_without_quotes() -> None:
    assert parse(SchemaKind.AVRO, " long\n").text == '"long"'


def test_normalized_schemas_are_the_same_in_whatever_order() -> None:
    one = {
        "type": "fixed",
        "size": 1,
        "name": "F",
        "aliases": ["B", "A"],
        "z": {"b": 1, "a": 2},
        "y": 2,
        "doc": "",
    }
    two = {"y": 2, "z": {"b": 1, "a": 2}, "aliases": ["A", "B"], "name": "F", "size": 1, "type": "fixed"}
    assert parsed(one).canonical() != parsed(two).canonical()
    assert parsed(one).canonical(normalize=True) == parsed(two).canonical(normalize=True)
    assert (
        normalized(parsed(one)).text
        == '{"type":"fixed","name":"F","size":1,"y":2,"z":{"b":1,"a":2},"aliases":["A","B"]}'
    )


def test_references_make_schemas_different() -> None:
    text = '["null","shop.Line"]'
    line = json.dumps({"type": "enum", "name": "shop.Line", "symbols": ["A"]})
    schemas = [
        parse(
            SchemaKind.AVRO,
            text,
            references=[Reference(name="shop.Line", subject="line", version=version)],
            resolve={"shop.Line": line},
        )
        for version in (1, 2)
    ]
    assert schemas[0].text == schemas[1].text == text
    assert schemas[0].canonical() != schemas[1].canonical()


def test_resolved_form_writes_out_the_types_of_references_where_they_are_used_first() -> None:
    unit = {"type": "enum", "name": "Unit", "namespace": "shop", "symbols": ["KG"]}
    line = {"type": "record", "name": "shop.Line", "fields": [{"name": "unit", "type": "Unit"}]}
    order = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "one", "type": "shop.Line"}, {"name": "unit", "type": "shop.Unit"}],
    }
    schema = parsed(order, shop__Line=line, shop__Unit=unit)  # Needed ones last: the order does not matter.
    assert '"type":"shop.Line"' in schema.text
    resolved = formatted_text(schema, "resolved")
    assert parse(SchemaKind.AVRO, resolved).text == resolved
    assert resolved.count('"symbols"') == 1
    assert formatted_text(schema, "") == formatted_text(schema, "newer") == schema.text
