"""Documents of JSON Schema: texts, drafts, and where references lead."""

import json
from typing import Any

import pytest

from penstock.schemas import InvalidSchema, SchemaKind, normalized_text, parse


def parsed(schema: Any, **others: Any) -> Any:
    return parse(
        SchemaKind.JSON,
        json.dumps(schema),
        resolve={name.replace("__", "."): json.dumps(other) for name, other in others.items()},
    )


def test_text_keeps_its_order_and_loses_its_space() -> None:
    assert parse(SchemaKind.JSON, '{ "type" : "string", "é": 1.0,\n"a": [1, 2] }').text == (
        '{"type":"string","é":1.0,"a":[1,2]}'
    )
    assert parsed({"b": 1, "a": 2}).canonical() != parsed({"a": 2, "b": 1}).canonical()
    assert normalized_text(parsed({"b": {"d": 1, "c": 2}, "a": 2})) == '{"a":2,"b":{"c":2,"d":1}}'


@pytest.mark.parametrize(
    ("schema", "others"),
    [
        ({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {}}}, {}),
        ({"$ref": "#/definitions/a%20b", "definitions": {"a b": {}}}, {}),
        ({"$ref": "#name", "definitions": {"x": {"$id": "#name"}}}, {}),
        ({"$schema": "x/2020-12/y", "$ref": "#name", "$defs": {"x": {"$anchor": "name"}}}, {}),
        ({"$ref": "other.json"}, {"other__json": {}}),
        ({"$ref": "other.json#/a/0"}, {"other__json": {"a": [{}]}}),
        (
            {"$id": "http://host/dir/main.json", "$ref": "other.json"},
            {"x": {"$id": "http://host/dir/other.json"}},
        ),
        (
            {
                "$id": "http://host/main.json",
                "properties": {"a": {"$ref": "inner.json"}},
                "$defs": {"x": {"$id": "inner.json"}},
            },
            {},
        ),
        ({"$ref": "http://json-schema.org/draft-07/schema#"}, {}),
        ({"properties": {"$ref": {"type": "string"}}}, {}),
        ({"enum": [{"$ref": "#/nowhere"}]}, {}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": True, "minimum": 1}, {}),
        (True, {}),
    ],
)
def test_reference_leads_somewhere(schema: Any, others: Any) -> None:
    assert json.loads(parsed(schema, **others).text) == schema


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not the JSON of a JSON Schema"),
        ("5", "#: a JSON Schema is an object, or true or false, not 5"),
        ('{"maximum": NaN}', "NaN is no number"),
        ('{"maximum": 1e999}', "1e999 is no number"),
        ('{"$ref": "#/nowhere"}', r"#/\$ref: JSON Schema has nothing at '#/nowhere'"),
        (
            '{"properties": {"a": {"$ref": "none.json"}}}',
            r"#/properties/a/\$ref: .*'none.json', none of its ref",
        ),
        ('{"$ref": 5}', r"#/\$ref: it is a text, not 5"),
        ('{"allOf": [{"type": 1}]}', "#/allOf/0/type: it is one or several of null, boolean"),
        (
            '{"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMaximum": 5}',
            "draft 4 it is true",
        ),
        ('{"dependentRequired": {"a": "b"}}', "each of its members, it is a list of names"),
    ],
)
def test_text_that_is_no_schema_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidSchema, match=words):
        parse(SchemaKind.JSON, text)
