"""The Spark type of a JSON Schema, and a JSON Schema for a Spark type.

Objects with properties are structs, objects with ``additionalProperties`` of one type maps, and integers
and numbers are as wide as Spark has them. What has no Spark type of its own (any value, several types, an
object of which nothing is said) is a string with the JSON text. Nothing but types is taken from a schema:
ranges, patterns and required members are not checked.
"""

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import types as t

from penstock.schemas.json_schema.documents import Document, documents, follow
from penstock.spark.registry.errors import SchemaUnsupportedError

_SIMPLE: dict[str, t.DataType] = {
    "boolean": t.BooleanType(),
    "integer": t.LongType(),
    "number": t.DoubleType(),
    "null": t.StringType(),
}
_CONNECT_TYPES: dict[str, t.DataType] = {
    "int8": t.IntegerType(),
    "int16": t.IntegerType(),
    "int32": t.IntegerType(),
    "float32": t.FloatType(),
    "bytes": t.BinaryType(),
}
"""Hints that Kafka Connect leaves in the schemas it writes."""
_ANY = t.StringType()
_FROM_SPARK: dict[type[t.DataType], dict[str, Any]] = {
    t.BooleanType: {"type": "boolean"},
    t.ByteType: {"type": "integer"},
    t.ShortType: {"type": "integer"},
    t.IntegerType: {"type": "integer"},
    t.LongType: {"type": "integer"},
    t.FloatType: {"type": "number"},
    t.DoubleType: {"type": "number"},
    t.DecimalType: {"type": "number"},
    t.StringType: {"type": "string"},
    t.BinaryType: {"type": "string", "contentEncoding": "base64"},
    t.DateType: {"type": "string", "format": "date"},
    t.TimestampType: {"type": "string", "format": "date-time"},
    t.TimestampNTZType: {"type": "string"},
}


def spark_type(text: str, references: Mapping[str, str] | None = None) -> t.DataType:
    """The type of a column of what the schema describes. ``references`` are schemas by the names it uses."""
    main, others = documents(text, references or {})
    return _Mapper(others).type_of(main.schema, main, ())


def json_schema(spark: t.DataType, *, title: str | None = None) -> str:
    """The text of a schema that ``to_json`` of such a column follows."""
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **_schema(spark)}
    return json.dumps(schema if title is None else {**schema, "title": title})


class _Mapper:
    """Knows all documents; ``within`` are the references that are being followed."""

    def __init__(self, others: Mapping[str, Document]) -> None:
        self._others = others

    def type_of(self, schema: Any, document: Document, within: tuple[str, ...]) -> t.DataType:
        if not isinstance(schema, dict):
            return _ANY  # True and False are schemas too: anything, nothing.
        if "$ref" in schema:
            return self._referred(schema["$ref"], document, within)
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self._one_of(schema[word], document, within)
        if "allOf" in schema:
            return self._all_of(schema, document, within)
        return self._plain(schema, document, within)

    def _referred(self, reference: str, document: Document, within: tuple[str, ...]) -> t.DataType:
        home, address, schema = follow(reference, document, self._others)
        if address in within:
            raise SchemaUnsupportedError(
                f"JSON Schema {reference!r} contains itself, and Spark has no recursive types; decode such"
                " records in a function of your own."
            )
        return self.type_of(schema, home, (*within, address))

    def _one_of(self, schemas: list[Any], document: Document, within: tuple[str, ...]) -> t.DataType:
        types = [self.type_of(each, document, within) for each in schemas if not _is_null(each)]
        return types[0] if types and all(each == types[0] for each in types) else _ANY

    def _all_of(self, schema: dict[str, Any], document: Document, within: tuple[str, ...]) -> t.DataType:
        """Structs become one with all their fields; otherwise the first type that is said counts."""
        rest = {word: value for word, value in schema.items() if word != "allOf"}
        types = [self.type_of(each, document, within) for each in [*schema["allOf"], rest]]
        structs = [each for each in types if isinstance(each, t.StructType)]
        if not structs:
            return next((each for each in types if each != _ANY), _ANY)
        return t.StructType(list({field.name: field for each in structs for field in each}.values()))

    def _plain(self, schema: dict[str, Any], document: Document, within: tuple[str, ...]) -> t.DataType:
        match _kind(schema):
            case "object":
                return self._object(schema, document, within)
            case "array":
                items = schema.get("items")
                return t.ArrayType(self.type_of(items, document, within))
            case "string":
                return _text(schema)
            case str(kind) if kind in _SIMPLE:
                return _CONNECT_TYPES.get(schema.get("connect.type", ""), _SIMPLE[kind])
        return _ANY

    def _object(self, schema: dict[str, Any], document: Document, within: tuple[str, ...]) -> t.DataType:
        if schema.get("properties"):
            return t.StructType(
                [
                    t.StructField(name, self.type_of(each, document, within))
                    for name, each in schema["properties"].items()
                ]
            )
        if isinstance(schema.get("additionalProperties"), dict):
            return t.MapType(t.StringType(), self.type_of(schema["additionalProperties"], document, within))
        return _ANY


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _kind(schema: dict[str, Any]) -> str | None:
    """The one type that a value may have besides null; None if there are several, or none is said."""
    kinds = schema.get("type")
    if kinds is None:
        return _implied_kind(schema)
    others = {kinds} if isinstance(kinds, str) else set(kinds) - {"null"}
    if others == {"integer", "number"}:
        return "number"
    return others.pop() if len(others) == 1 else None


def _implied_kind(schema: dict[str, Any]) -> str | None:
    if "properties" in schema:
        return "object"
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    others = [value for value in values if value is not None]
    return "string" if others and all(isinstance(value, str) for value in others) else None


def _text(schema: dict[str, Any]) -> t.DataType:
    if schema.get("contentEncoding") == "base64" or schema.get("connect.type") == "bytes":
        return t.BinaryType()
    match schema.get("format"):
        case "date-time":
            return t.TimestampType()
        case "date":
            return t.DateType()
    return t.StringType()


def _schema(spark: t.DataType) -> dict[str, Any]:
    match spark:
        case t.StructType():
            properties = {field.name: _schema(field.dataType) for field in spark.fields}
            return {"type": "object", "properties": properties}
        case t.ArrayType():
            return {"type": "array", "items": _nullable(spark.elementType)}
        case t.MapType():
            return {"type": "object", "additionalProperties": _nullable(spark.valueType)}
    if type(spark) not in _FROM_SPARK:
        raise SchemaUnsupportedError(f"JSON has no type for Spark's {spark.simpleString()}; cast it first.")
    return dict(_FROM_SPARK[type(spark)])


def _nullable(spark: t.DataType) -> dict[str, Any]:
    # Fields that are null are left out of the text, but items and values are written as null.
    return {"oneOf": [{"type": "null"}, _schema(spark)]}
