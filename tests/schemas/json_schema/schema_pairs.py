"""Pairs of JSON Schemas that resemble each other, and documents that may fit them, out of Hypothesis."""

import copy
from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "x-c"]
TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"]

scalars = st.sampled_from([None, True, False, 0, 1, 2, 1.5, -3, "", "a", "bb", "ccc"])
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, "z"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> Any:
    """A schema of draft 7, or of 2020-12 where both are the same."""
    kinds = ["type", "type", "enum", "number", "string", "any"]
    if depth:
        kinds += ["object"] * 4 + ["array", "allOf", "anyOf", "oneOf", "not", "ref", "if"]
    match draw(st.sampled_from(kinds)):
        case "type":
            types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True))
            return {"type": types[0] if len(types) == 1 else types}
        case "enum":
            return {"enum": draw(st.lists(scalars, min_size=1, max_size=4, unique_by=repr))}
        case "number":
            return {"type": draw(st.sampled_from(["integer", "number"])), **draw(_limits(_NUMBER))}
        case "string":
            return {"type": "string", **draw(_limits(_STRING))}
        case "any":
            return draw(st.sampled_from([True, {}, False]))
        case "object":
            return draw(_objects(depth))
        case "array":
            return draw(_arrays(depth))
        case "ref":
            return {"$ref": f"#/definitions/{draw(st.sampled_from(['one', 'two']))}"}
        case "if":
            return {word: draw(schemas(depth - 1)) for word in ("if", "then", "else")}
        case "not":
            return {"not": draw(schemas(depth - 1))}
        case word:
            return {word: draw(st.lists(schemas(depth - 1), min_size=1, max_size=3))}


_NUMBER = {
    "maximum": st.integers(-2, 3),
    "minimum": st.integers(-3, 2),
    "exclusiveMaximum": st.integers(-2, 3),
    "exclusiveMinimum": st.integers(-3, 2),
    "multipleOf": st.sampled_from([1, 2, 0.5, 3]),
}
_STRING = {
    "maxLength": st.integers(0, 3),
    "minLength": st.integers(0, 3),
    "pattern": st.sampled_from(["^a", "b+", "c$"]),
}
_OBJECT = {
    "maxProperties": st.integers(0, 3),
    "minProperties": st.integers(0, 2),
    "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    "dependencies": st.dictionaries(st.sampled_from(NAMES), st.just(["a"]), max_size=1),
    "propertyNames": st.sampled_from([{"maxLength": 1}, {"enum": ["a", "b"]}, True]),
}
_ARRAY = {
    "maxItems": st.integers(0, 3),
    "minItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
}


@st.composite
def _limits(draw: st.DrawFn, words: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(sorted(words)), max_size=2, unique=True))
    return {word: draw(words[word]) for word in chosen}


@st.composite
def _objects(draw: st.DrawFn, depth: int) -> Any:
    schema: dict[str, Any] = {"type": "object"} if draw(st.integers(0, 3)) else {}
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    schema["properties"] = {name: draw(schemas(depth - 1)) for name in names}
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.just(False) | schemas(depth - 1))
    if not draw(st.integers(0, 3)):
        schema["patternProperties"] = {draw(st.sampled_from(["^x-", "a|b"])): draw(schemas(depth - 1))}
    return schema | draw(_limits(_OBJECT))


@st.composite
def _arrays(draw: st.DrawFn, depth: int) -> Any:
    schema: dict[str, Any] = {"type": "array"}
    match draw(st.sampled_from(["one", "several", "contains"])):
        case "one":
            schema["items"] = draw(schemas(depth - 1))
        case "several":
            schema["items"] = draw(st.lists(schemas(depth - 1), min_size=1, max_size=2))
            if draw(st.booleans()):
                schema["additionalItems"] = draw(st.just(False) | schemas(depth - 1))
        case "contains":
            schema["contains"] = draw(schemas(depth - 1))
    return schema | draw(_limits(_ARRAY))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """An old schema, and a new one that is the same but for some changes, mostly wider."""
    definitions = {"one": draw(schemas(0)), "two": draw(_objects(1))}
    old = draw(schemas())
    new = copy.deepcopy(old)
    for _ in range(draw(st.integers(1, 2))):
        new = _changed(draw, new, 3)
    if not draw(st.integers(0, 3)):
        definitions = {"one": draw(schemas(0)), "two": definitions["two"]}
    return with_definitions(old, {"one": definitions["one"], "two": definitions["two"]}), with_definitions(
        new, definitions
    )


def with_definitions(schema: Any, definitions: dict[str, Any]) -> Any:
    """A whole document; nothing else counts beside a ``$ref``, so the schema is put within."""
    return {"allOf": [schema], "definitions": definitions}


def _changed(draw: st.DrawFn, schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or not schema or not depth:
        return draw(st.sampled_from([True, {}]) | schemas(1))
    word = draw(st.sampled_from(sorted(schema)))
    match draw(st.sampled_from(["inside", "inside", "inside", "without", "beside", "other"])):
        case "without":
            return {other: value for other, value in schema.items() if other != word}
        case "beside":
            return draw(
                st.sampled_from(
                    [{"anyOf": [schema, {"type": "null"}]}, {"oneOf": [schema]}, {"allOf": [schema]}]
                )
            )
        case "other":
            return draw(schemas(1))
    value = schema[word]
    if isinstance(value, int) and not isinstance(value, bool):
        return {**schema, word: max(0, value + draw(st.integers(-1, 1))) if word != "multipleOf" else value}
    if word in ("properties", "patternProperties") and value:
        name = draw(st.sampled_from(sorted(value)))
        return {**schema, word: {**value, name: _changed(draw, value[name], depth - 1)}}
    if word in ("allOf", "anyOf", "oneOf"):
        more = draw(st.sampled_from(["more", "change"]))
        if more == "more":
            return {**schema, word: [*value, draw(schemas(1))]}
        return {**schema, word: [_changed(draw, value[0], depth - 1), *value[1:]]}
    if word == "enum":
        return {**schema, word: [*value, "more"] if draw(st.booleans()) else value[:-1] or value}
    if word in ("items", "additionalProperties", "not", "if", "then", "else", "contains", "additionalItems"):
        return (
            {**schema, word: draw(schemas(1))}
            if isinstance(value, list)
            else {**schema, word: _changed(draw, value, depth - 1)}
        )
    if word == "required":
        return {**schema, word: value[:-1]}
    return schema
