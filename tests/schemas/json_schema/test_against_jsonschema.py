"""Every document that an old schema accepts, a new one that is called compatible accepts too.

Another implementation judges documents. Defaults, which may stand for missing properties, are not used.
"""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.schemas.json_schema.schema_pairs import documents, pairs, schemas, with_definitions

from penstock.schemas import Direction, InvalidSchema, SchemaKind, check, parse


def is_compatible(old: Any, new: Any) -> bool:
    parsed = [parse(SchemaKind.JSON, json.dumps(each)) for each in (old, new)]
    return not check(SchemaKind.JSON, old=parsed[0], new=parsed[1], direction=Direction.BACKWARD)


def is_valid(schema: Any, document: Any) -> bool:
    return bool(jsonschema.Draft7Validator(schema).is_valid(document))


@settings(max_examples=150, deadline=None)
@given(pairs(), st.lists(documents, min_size=20, max_size=20))
def test_compatible_schema_accepts_every_document(pair: tuple[Any, Any], some: list[Any]) -> None:
    old, new = pair
    compatible = is_compatible(old, new)
    refused = [each for each in some if is_valid(old, each) and not is_valid(new, each)]
    event(f"compatible: {compatible}, refused: {bool(refused)}")
    assert not (compatible and refused)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(schemas())
def test_schema_is_compatible_with_itself_written_otherwise(schema: Any) -> None:
    """The other one is the same by a reference, so that nothing is equal as a text."""
    old = with_definitions(schema, {"one": True, "two": False})
    new = {"$ref": "#/definitions/all", "definitions": {"all": schema, "one": True, "two": False}}
    assert is_compatible(old, new)


WRONG = [
    {"type": "strin"},
    {"type": []},
    {"required": "a"},
    {"required": ["a", "a"]},
    {"properties": []},
    {"properties": {"a": 5}},
    {"items": 5},
    {"allOf": []},
    {"enum": "a"},
    {"maxLength": -1},
    {"minItems": 1.5},
    {"multipleOf": 0},
    {"maximum": "5"},
    {"exclusiveMaximum": True},
    {"pattern": 5},
    {"uniqueItems": 1},
    {"dependencies": {"a": ["b", "b"]}},
    {"not": 5},
    {"additionalProperties": "no"},
]


@pytest.mark.parametrize("schema", WRONG)
def test_schema_that_another_implementation_refuses_is_refused(schema: Any) -> None:
    with pytest.raises(jsonschema.SchemaError):
        jsonschema.Draft7Validator.check_schema(schema)
    with pytest.raises(InvalidSchema, match="#"):
        parse(SchemaKind.JSON, json.dumps(schema))
