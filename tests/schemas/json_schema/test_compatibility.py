"""Which changes of a JSON Schema refuse documents that were accepted: each with the reason that is given."""

import json
import re
from typing import Any

import pytest

from penstock.schemas import Direction, Incompatibility, SchemaKind, check, parse

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def found(old: Any, new: Any, direction: Direction = Direction.BACKWARD) -> list[Incompatibility]:
    parsed = [parse(SchemaKind.JSON, json.dumps(each)) for each in (old, new)]
    return check(SchemaKind.JSON, old=parsed[0], new=parsed[1], direction=direction)


def thing(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return thing(properties, additionalProperties=False, **more)


def tagged(tag: str, **more: Any) -> dict[str, Any]:
    return thing({"kind": {"const": tag}}, required=["kind"], **more)


def latest(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DRAFT_2020, **schema}


COMPATIBLE = [
    (STRING, {}),
    (STRING, True),
    (False, STRING),
    (INTEGER, {"type": "number"}),
    (STRING, {"type": ["string", "null"]}),
    (
        {**STRING, "title": "a", "default": "x"},
        {**STRING, "title": "b", "description": "c", "format": "date"},
    ),
    ({"enum": ["a", 1]}, {"enum": [1.0, "b", "a"]}),
    ({"const": 1}, {"enum": [1, 2]}),
    ({"enum": ["a", "bb"]}, {"type": "string", "maxLength": 2, "minLength": 1}),
    ({"enum": [1, 3]}, {"type": "integer", "minimum": 1, "exclusiveMaximum": 4}),
    ({"type": "boolean"}, {"enum": [True, False]}),
    ({**STRING, "maxLength": 3, "pattern": "x"}, {**STRING, "maxLength": 4, "pattern": "x"}),
    ({"type": "number", "exclusiveMaximum": 5}, {"type": "number", "maximum": 5}),
    ({"type": "number", "multipleOf": 0.5}, {"type": "number", "multipleOf": 0.1}),
    (INTEGER, {"type": "integer", "multipleOf": 0.5}),
    (closed({"a": STRING}), closed({"a": STRING, "b": INTEGER})),
    (closed({"a": STRING}), closed({"a": STRING, "b": {**INTEGER, "default": 1}}, required=["b"])),
    (thing({"a": STRING, "b": STRING}), thing({"a": STRING})),
    (thing({"a": STRING}, required=["a"]), thing({"a": STRING}, minProperties=1)),
    (thing({"a": STRING}), thing({"a": STRING, "b": True})),
    (thing({}, additionalProperties=INTEGER), thing({"a": {"type": "number"}})),
    (closed({"a": STRING}), thing({}, additionalProperties=STRING, maxProperties=1)),
    (
        closed({}, patternProperties={"^x-": STRING}),
        closed({"x-a": STRING}, patternProperties={"^x-": STRING}),
    ),
    (thing({}, dependencies={"a": ["b", "c"]}), thing({}, dependencies={"a": ["b"]})),
    ({"type": "array", "items": INTEGER, "minItems": 2}, {"type": "array", "items": {"type": "number"}}),
    ({"type": "array", "maxItems": 1}, {"type": "array", "uniqueItems": True}),
    (
        {"type": "array", "items": [STRING], "additionalItems": False},
        {"type": "array", "items": [STRING, INTEGER], "maxItems": 2},
    ),
    ({"type": "array", "minItems": 1, "items": STRING}, {"type": "array", "contains": STRING}),
    (STRING, {"anyOf": [INTEGER, STRING]}),
    ({"type": ["string", "integer"]}, {"anyOf": [INTEGER, STRING]}),
    ({"anyOf": [INTEGER, STRING]}, {"type": ["string", "number"]}),
    ({"oneOf": [STRING, INTEGER]}, {"oneOf": [STRING, INTEGER, {"type": "null"}]}),
    ({"oneOf": [tagged("a"), tagged("b")]}, {"oneOf": [tagged("a"), tagged("b"), tagged("c")]}),
    ({"oneOf": [STRING, {"maxLength": 3}]}, {"oneOf": [{"maxLength": 3}, STRING]}),
    ({"allOf": [STRING, {"maxLength": 3}]}, {"type": "string", "maxLength": 3}),
    ({"type": "string", "maxLength": 3}, {"allOf": [STRING, {"maxLength": 3}]}),
    ({"not": {"type": ["string", "null"]}}, {"not": STRING}),
    (INTEGER, {"not": STRING}),
    ({"if": STRING, "then": {"maxLength": 3}}, {"if": STRING, "then": {"maxLength": 4}}),
    (INTEGER, {"if": STRING, "then": False}),
    (latest(closed({"a": STRING})), latest({"properties": {"a": STRING}, "unevaluatedProperties": False})),
    (
        latest({"allOf": [{"properties": {"a": STRING}}], "unevaluatedProperties": False}),
        latest({"properties": {"a": STRING, "b": STRING}, "unevaluatedProperties": False}),
    ),
    (latest({"prefixItems": [STRING], "items": False}), latest({"prefixItems": [STRING, INTEGER]})),
    (
        latest({"contains": STRING, "minContains": 2, "maxContains": 3}),
        latest({"contains": {"type": ["string", "null"]}, "minContains": 1}),
    ),
]


@pytest.mark.parametrize(("old", "new"), COMPATIBLE, ids=lambda each: json.dumps(each)[:60])
def test_change_that_refuses_nothing_is_compatible(old: Any, new: Any) -> None:
    assert found(old, new) == []


INCOMPATIBLE = [
    (STRING, INTEGER, "TYPE_CHANGED", "#/type", "string is written here and only integer accepted"),
    ({"type": ["string", "null"]}, STRING, "TYPE_NARROWED", "#/type", "null is written"),
    ({"type": "number"}, INTEGER, "TYPE_NARROWED", "#/type", "number is written here and only integer"),
    ({}, False, "TYPE_NARROWED", "#", "nothing is accepted"),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, "ENUM_ARRAY_NARROWED", "#/enum", '"b" can be written'),
    ({"enum": ["a"]}, {"enum": ["b"]}, "ENUM_ARRAY_CHANGED", "#/enum", '"a" can be written'),
    (STRING, {**STRING, "enum": ["a"]}, "ENUM_ARRAY_NARROWED", "#/enum", "only 1 values"),
    ({"const": True}, {"const": 1}, "ENUM_ARRAY_CHANGED", "#/const", "true can be written"),
    (STRING, {**STRING, "maxLength": 3}, "MAX_LENGTH_ADDED", "#/maxLength", "3 and was not there"),
    (
        {**STRING, "maxLength": 4},
        {**STRING, "maxLength": 3},
        *("MAX_LENGTH_DECREASED", "#/maxLength", "is 3 and was 4; leave it out, or no smaller"),
    ),
    (
        {**STRING, "minLength": 1},
        {**STRING, "minLength": 2},
        "MIN_LENGTH_INCREASED",
        "#/minLength",
        "2 and was 1",
    ),
    (STRING, {**STRING, "pattern": "x"}, "PATTERN_ADDED", "#/pattern", "'x' and was not there"),
    ({**STRING, "pattern": "y"}, {**STRING, "pattern": "x"}, "PATTERN_CHANGED", "#/pattern", "was 'y'"),
    (INTEGER, {**INTEGER, "maximum": 5}, "MAXIMUM_ADDED", "#/maximum", "is 5 and was not there"),
    ({**INTEGER, "minimum": 5}, {**INTEGER, "minimum": 6}, "MINIMUM_INCREASED", "#/minimum", "no larger"),
    (
        {**INTEGER, "maximum": 5},
        {**INTEGER, "exclusiveMaximum": 5},
        *("EXCLUSIVE_MAXIMUM_DECREASED", "#/exclusiveMaximum", "is 5"),
    ),
    (
        {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5},
        {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": True},
        *("EXCLUSIVE_MAXIMUM_DECREASED", "#/exclusiveMaximum", "is 5"),
    ),
    (INTEGER, {**INTEGER, "multipleOf": 2}, "MULTIPLE_OF_ADDED", "#/multipleOf", "is 2"),
    ({"multipleOf": 2}, {"multipleOf": 4}, "MULTIPLE_OF_EXPANDED", "#/multipleOf", "or a divisor"),
    ({"multipleOf": 3}, {"multipleOf": 2}, "MULTIPLE_OF_CHANGED", "#/multipleOf", "was 3"),
    (
        thing({"a": STRING}),
        thing({"a": STRING, "b": INTEGER}),
        *(
            "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
            "#/properties/b",
            "'b' is new.*additionalProperties: f",
        ),
    ),
    (
        thing({}, additionalProperties=STRING),
        thing({"b": INTEGER}, additionalProperties=STRING),
        *("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/b", "'b' is new"),
    ),
    (
        closed({"a": STRING}),
        closed({"a": STRING, "b": INTEGER}, required=["b"]),
        *("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "#/required/b", "'b' is required and was not"),
    ),
    (
        thing({"a": STRING}),
        thing({"a": STRING}, required=["a"]),
        *("REQUIRED_ATTRIBUTE_ADDED", "#/required/a", "give it a default"),
    ),
    (
        closed({"a": STRING, "b": STRING}),
        closed({"a": STRING}),
        *("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/additionalProperties", "'b' is gone"),
    ),
    (
        closed({"a": STRING}),
        thing({}, additionalProperties=INTEGER),
        *(
            "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
            "#/additionalProperties",
            "'a' is gone",
        ),
    ),
    (
        thing({}),
        closed({}),
        "ADDITIONAL_PROPERTIES_REMOVED",
        "#/additionalProperties",
        "accepted more widely",
    ),
    (
        thing({}),
        thing({}, additionalProperties=STRING),
        *("ADDITIONAL_PROPERTIES_NARROWED", "#/additionalProperties", "leave additionalProperties as it was"),
    ),
    (
        latest(thing({})),
        latest(thing({}, unevaluatedProperties=False)),
        *("UNEVALUATED_PROPERTIES_REMOVED", "#/unevaluatedProperties", "leave unevaluatedProperties"),
    ),
    (
        thing({"a/b": thing({"c": STRING})}),
        thing({"a/b": thing({"c": INTEGER})}),
        *("TYPE_CHANGED", "#/properties/a~1b/properties/c/type", "string is written"),
    ),
    (
        thing({}, patternProperties={"^x": {}}),
        thing({}, patternProperties={"^x": STRING}),
        *("PATTERN_PROPERTY_NARROWED", "#/patternProperties/^x", "fit '.x' are narrower"),
    ),
    (thing({}), thing({}, maxProperties=1), "MAX_PROPERTIES_ADDED", "#/maxProperties", "is 1"),
    (
        thing({}),
        thing({}, dependencies={"a": ["b"]}),
        "DEPENDENCY_ARRAY_ADDED",
        "#/dependencies/a",
        "with 'a'",
    ),
    (
        thing({}),
        thing({}, dependencies={"a": thing({}, required=["b"])}),
        *("DEPENDENCY_SCHEMA_ADDED", "#/dependencies/a", "with 'a' there"),
    ),
    (
        thing({}),
        thing({}, propertyNames={"maxLength": 3}),
        "PROPERTY_NAMES_NARROWED",
        "#/propertyNames",
        "names",
    ),
    (
        {"type": "array", "items": STRING},
        {"type": "array", "items": INTEGER},
        *("TYPE_CHANGED", "#/items/type", "string is written"),
    ),
    (
        {"type": "array"},
        {"type": "array", "items": INTEGER},
        "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
        "#/items",
        "open",
    ),
    (
        {"type": "array", "items": [STRING, STRING]},
        {"type": "array", "items": [STRING], "additionalItems": False},
        *("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/additionalItems", "let them pass"),
    ),
    (
        {"type": "array"},
        {"type": "array", "uniqueItems": True},
        "UNIQUE_ITEMS_ADDED",
        "#/uniqueItems",
        "equal",
    ),
    ({"type": "array"}, {"type": "array", "minItems": 1}, "MIN_ITEMS_ADDED", "#/minItems", "is 1"),
    ({"type": "array"}, {"type": "array", "contains": STRING}, "MIN_CONTAINS_ADDED", "#/contains", "1 items"),
    (
        latest({"contains": STRING, "maxContains": 3}),
        latest({"contains": STRING, "maxContains": 2}),
        *("MAX_CONTAINS_DECREASED", "#/maxContains", "is 2"),
    ),
    (
        latest({"type": "array"}),
        latest({"type": "array", "unevaluatedItems": False}),
        *("UNEVALUATED_ITEMS_REMOVED", "#/unevaluatedItems", "nothing else describes"),
    ),
    ({"oneOf": [STRING, INTEGER]}, {"oneOf": [STRING]}, "SUM_TYPE_NARROWED", "#/oneOf", "integer is written"),
    (
        {"type": ["string", "integer"]},
        {"anyOf": [STRING]},
        "SUM_TYPE_NARROWED",
        "#/anyOf",
        "integer is written",
    ),
    (
        {"oneOf": [thing({"a": {}})]},
        {"oneOf": [thing({"a": {}}), thing({"b": {}})]},
        *("ONE_OF_BRANCHES_OVERLAP", "#/oneOf", "required property with a const, or use anyOf"),
    ),
    ({}, {"not": STRING}, "NOT_TYPE_EXTENDED", "#/not", "must not fit"),
    ({}, {"if": STRING, "then": {"maxLength": 3}}, "CONDITION_CHANGED", "#/if", "demand more"),
    (
        {},
        {"$ref": "http://json-schema.org/draft-07/schema#"},
        *("SCHEMA_ADDED", "#/$ref", "must fit http://json-schema.org/draft-07/schema"),
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "kind", "path", "words"), INCOMPATIBLE, ids=lambda each: json.dumps(each)[:40]
)
def test_change_that_refuses_something_is_told(old: Any, new: Any, kind: str, path: str, words: str) -> None:
    reasons = [each for each in found(old, new) if (each.kind, each.path) == (kind, path)]
    assert len(reasons) == 1, found(old, new)
    assert re.search(words, reasons[0].message), reasons[0].message


def test_references_are_followed_and_may_lead_into_themselves() -> None:
    def tree(value: Any, way: str) -> Any:
        node = thing({"value": value, "next": {"$ref": f"#/{way}/node"}})
        return {"$ref": f"#/{way}/node", way: {"node": node}}

    assert found(tree(INTEGER, "definitions"), tree({"type": "number"}, "$defs")) == []
    assert [each.path for each in found(tree(STRING, "$defs"), tree(INTEGER, "definitions"))] == [
        "#/properties/value/type"
    ]


def test_other_documents_are_compared_too() -> None:
    main = '{"type":"object","properties":{"a":{"$ref":"other.json#/$defs/a"}},"additionalProperties":false}'
    others = [{"other.json": json.dumps({"$defs": {"a": {"type": each}}})} for each in ("string", "integer")]
    old, new = (parse(SchemaKind.JSON, main, resolve=each) for each in others)
    reasons = check(SchemaKind.JSON, old=old, new=new, direction=Direction.BACKWARD)
    assert [each.path for each in reasons] == ["#/properties/a/type"]


def test_directions_ask_the_other_side() -> None:
    assert [each.kind for each in found(STRING, {}, Direction.FORWARD)] == ["TYPE_NARROWED"]
    assert found({}, STRING, Direction.FORWARD) == []
    assert found(STRING, {**STRING, "title": "x"}, Direction.FULL) == []


def test_comparison_without_end_is_given_up() -> None:
    """Twenty alternatives of two, all at once: a million cases, of which the last one might be wrong."""

    def alternatives(limit: int) -> Any:
        pairs = [{"anyOf": [{"maxLength": n}, {"minLength": 99 + n}]} for n in range(20)]
        return {"allOf": pairs, "type": "string", "anyOf": [{"pattern": str(n)} for n in range(limit)]}

    assert [each.kind for each in found(alternatives(9), alternatives(8))] == ["COMPARISON_TOO_COMPLEX"]


def test_many_alternatives_that_a_property_tells_apart_are_compared() -> None:
    """Events of many kinds under one subject: another kind may be added."""
    old = {"oneOf": [tagged(f"event{number}") for number in range(60)]}
    new = {"oneOf": [tagged(f"event{number}", title="x") for number in range(61)]}
    assert found(old, new) == []
    assert [each.kind for each in found(old, new, Direction.FORWARD)] == ["SUM_TYPE_NARROWED"]
