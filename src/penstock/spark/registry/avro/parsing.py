"""An Avro schema's text into its tree of types, as far as Spark has types for it."""

from collections.abc import Mapping

from penstock.schemas.avro.parsing import ParsedTypes, load, parse_types
from penstock.schemas.avro.schema import Array, AvroType, Map, Record, RecordWithin, Union
from penstock.spark.registry.errors import SchemaUnsupportedError


def parse_schema(text: str, references: Mapping[str, str] | None = None) -> AvroType:
    """The type of a schema. ``references`` are the texts of schemas that it uses."""
    others = {name: load(other) for name, other in (references or {}).items()}
    types = parse_types(load(text), others)
    _refuse_recursion(types)
    return types.root


def _refuse_recursion(types: ParsedTypes) -> None:
    """Of the types that the schema uses; references may define others that nobody asks for."""
    seen: set[int] = set()
    waiting = [types.root]
    while waiting:
        avro = waiting.pop()
        if isinstance(avro, RecordWithin):
            raise SchemaUnsupportedError(
                f"Avro type {avro.name!r} contains itself, and Spark has no recursive types; decode such"
                " records in a function of your own."
            )
        if id(avro) not in seen:
            seen.add(id(avro))
            waiting += _inner(avro)


def _inner(avro: AvroType) -> list[AvroType]:
    match avro:
        case Array():
            return [avro.items]
        case Map():
            return [avro.values]
        case Record():
            return [field.type for field in avro.fields]
        case Union():
            return list(avro.branches)
    return []
