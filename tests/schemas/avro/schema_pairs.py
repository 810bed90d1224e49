"""Pairs of Avro schemas that resemble each other, and values of them, out of Hypothesis."""

import copy
from typing import Any

from hypothesis import strategies as st

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
SYMBOLS = ["A", "B", "C", "D"]
FIELD_NAMES = ["a", "b", "c", "d"]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3, names: list[str] | None = None) -> Any:
    """A schema whose named types all have names of their own."""
    names = [] if names is None else names
    kinds = ["primitive", "primitive", "enum", "fixed"]
    if depth:
        kinds += ["record", "record", "array", "map", "union"]
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "primitive":
            return draw(st.sampled_from(PRIMITIVES))
        case "array":
            return {"type": "array", "items": draw(schemas(depth - 1, names))}
        case "map":
            return {"type": "map", "values": draw(schemas(depth - 1, names))}
        case "union":
            return draw(_unions(depth, names))
    names.append(f"{kind.capitalize()}{len(names)}")
    named: dict[str, Any] = {"type": kind, "name": names[-1]}
    match kind:
        case "enum":
            symbols = draw(st.lists(st.sampled_from(SYMBOLS), min_size=1, unique=True))
            default = {"default": symbols[0]} if draw(st.booleans()) else {}
            return {**named, "symbols": symbols, **default}
        case "fixed":
            return {**named, "size": draw(st.integers(1, 3))}
    fields = draw(st.lists(st.sampled_from(FIELD_NAMES), min_size=1, max_size=3, unique=True))
    return {**named, "fields": [draw(_fields(name, depth, names)) for name in fields]}


@st.composite
def _unions(draw: st.DrawFn, depth: int, names: list[str]) -> Any:
    branches = draw(st.lists(st.sampled_from(PRIMITIVES), min_size=1, max_size=3, unique=True))
    more = draw(schemas(depth - 1, names))
    return [*branches, more] if isinstance(more, dict) else branches


@st.composite
def _fields(draw: st.DrawFn, name: str, depth: int, names: list[str]) -> Any:
    type_ = draw(schemas(depth - 1, names))
    field: dict[str, Any] = {"name": name, "type": type_}
    defaults = {"null": None, "int": 1, "long": 2, "string": "s", "boolean": True, "double": 1.5}
    if isinstance(type_, str) and type_ in defaults and draw(st.booleans()):
        field["default"] = defaults[type_]
    return field


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """A writer's schema, and a reader's that is the same but for some changes."""
    writer = draw(schemas())
    reader = copy.deepcopy(writer)
    for _ in range(draw(st.integers(0, 3))):
        reader = _changed(draw, reader)
    return writer, reader


def _changed(draw: st.DrawFn, schema: Any) -> Any:
    """One change somewhere in a schema."""
    if isinstance(schema, list):
        return _changed_union(draw, schema)
    if isinstance(schema, str):
        other = draw(st.sampled_from(PRIMITIVES))
        return draw(st.sampled_from([other, ["null", schema] if schema != "null" else schema]))
    match schema["type"]:
        case "array":
            return {**schema, "items": _changed(draw, schema["items"])}
        case "map":
            return {**schema, "values": _changed(draw, schema["values"])}
        case "enum":
            symbols = draw(st.lists(st.sampled_from(SYMBOLS), min_size=1, unique=True))
            default = {"default": symbols[0]} if draw(st.booleans()) else {}
            return {"type": "enum", "name": schema["name"], "symbols": symbols, **default}
        case "fixed":
            return {**schema, "size": draw(st.integers(1, 3))}
    return _changed_record(draw, schema)


def _changed_union(draw: st.DrawFn, branches: list[Any]) -> Any:
    index = draw(st.integers(0, len(branches) - 1))
    choice = draw(st.sampled_from(["without", "changed", "more", "alone"]))
    if choice == "without" and len(branches) > 1:
        return branches[:index] + branches[index + 1 :]
    if choice == "alone":
        return branches[index]
    if choice == "changed" and isinstance(branches[index], dict):
        return [*branches[:index], _changed(draw, branches[index]), *branches[index + 1 :]]
    other = draw(st.sampled_from(PRIMITIVES))
    return branches if other in branches else [*branches, other]


def _changed_record(draw: st.DrawFn, record: dict[str, Any]) -> Any:
    fields = list(record["fields"])
    if not fields:
        return record
    index = draw(st.integers(0, len(fields) - 1))
    match draw(st.sampled_from(["without", "changed", "changed", "more", "renamed", "order"])):
        case "without":
            del fields[index]
        case "changed":
            fields[index] = {"name": fields[index]["name"], "type": _changed(draw, fields[index]["type"])}
        case "more":
            default = {"default": 7} if draw(st.booleans()) else {}
            fields.append({"name": "extra", "type": "int", **default})
        case "renamed":
            name = fields[index]["name"]
            fields[index] = {**fields[index], "name": f"new_{name}", "aliases": [name]}
        case "order":
            fields.reverse()
    names = [field["name"] for field in fields]
    return {**record, "fields": fields} if len(set(names)) == len(names) else record


@st.composite
def values(draw: st.DrawFn, schema: Any) -> Any:
    """A value that a schema can write."""
    if isinstance(schema, list):
        return draw(values(draw(st.sampled_from(schema))))
    match schema if isinstance(schema, str) else schema["type"]:
        case "null":
            return None
        case "boolean":
            return draw(st.booleans())
        case "int" | "long":
            return draw(st.integers(-5, 5))
        case "float" | "double":
            return draw(st.sampled_from([0.5, -2.0]))
        case "string":
            return draw(st.sampled_from(["", "x", "yz"]))
        case "bytes":
            return draw(st.sampled_from([b"", b"x"]))
        case "array":
            return draw(st.lists(values(schema["items"]), max_size=2))
        case "map":
            return draw(st.dictionaries(st.sampled_from(["k", "l"]), values(schema["values"]), max_size=2))
        case "enum":
            return draw(st.sampled_from(schema["symbols"]))
        case "fixed":
            return b"z" * schema["size"]
    return {field["name"]: draw(values(field["type"])) for field in schema["fields"]}
