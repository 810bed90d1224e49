"""Avro schemas and values for them, out of Hypothesis: what Avro can say, short of recursion."""

import io
import itertools
from typing import Any

import fastavro
import pyarrow as pa
from hypothesis import strategies as st

PRIMITIVES = ["boolean", "int", "long", "float", "double", "bytes", "string"]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=20),
    "string": st.text(max_size=20),
}


@st.composite
def schemas(draw: st.DrawFn, names: "itertools.count[int] | None" = None, depth: int = 2) -> Any:
    """A schema as JSON has it."""
    names = names or itertools.count()
    kinds = ["primitive", "enum", "fixed"] + (["nullable", "array", "map", "record"] if depth else [])
    match draw(st.sampled_from(kinds)):
        case "enum":
            return {"type": "enum", "name": f"E{next(names)}", "symbols": ["A", "B", "C"]}
        case "fixed":
            return {"type": "fixed", "name": f"F{next(names)}", "size": draw(st.integers(1, 5))}
        case "nullable":
            inner = draw(schemas(names, depth - 1).filter(lambda schema: not isinstance(schema, list)))
            return draw(st.sampled_from([["null", inner], [inner, "null"]]))
        case "array":
            return {"type": "array", "items": draw(schemas(names, depth - 1))}
        case "map":
            return {"type": "map", "values": draw(schemas(names, depth - 1))}
        case "record":
            return draw(records(names, depth - 1))
    return draw(st.sampled_from(PRIMITIVES))


@st.composite
def records(draw: st.DrawFn, names: "itertools.count[int] | None" = None, depth: int = 2) -> Any:
    """A record of up to four fields."""
    names = names or itertools.count()
    name = f"R{next(names)}"
    types = draw(st.lists(schemas(names, depth), min_size=1, max_size=4))
    fields = [{"name": f"f{index}", "type": type_} for index, type_ in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


def values_of(schema: Any) -> st.SearchStrategy[Any]:
    """Values as fastavro takes them."""
    if isinstance(schema, list):
        return st.one_of([values_of(branch) for branch in schema])
    if isinstance(schema, str):
        return VALUES[schema]
    match schema["type"]:
        case "enum":
            return st.sampled_from(schema["symbols"])
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case "array":
            return st.lists(values_of(schema["items"]), max_size=3)
        case "map":
            return st.dictionaries(st.text(max_size=3), values_of(schema["values"]), max_size=3)
        case "record":
            return st.fixed_dictionaries(
                {field["name"]: values_of(field["type"]) for field in schema["fields"]}
            )
    return VALUES[schema["type"]]


def written(schema: Any, values: list[Any]) -> Any:
    """A binary column of records as fastavro writes them."""
    parsed = fastavro.parse_schema(schema)
    return pa.array([_record(parsed, value) for value in values], pa.binary())


def _record(parsed: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, parsed, value)
    return stream.getvalue()
