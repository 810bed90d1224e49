"""An Avro schema's text into its tree of types, with what it refers to. Follows the specification, 1.12.

Logical types that are unknown, or stand on a type they do not fit, are ignored, as the specification demands.
"""

import json
from collections.abc import Mapping
from typing import Any

from penstock.spark.registry.avro.defaults import default_value
from penstock.spark.registry.avro.schema import (
    MISSING,
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Union,
)
from penstock.spark.registry.errors import SchemaUnsupportedError

PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
LOGICAL_TYPES = {
    "int": {"date", "time-millis"},
    "long": {
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-micros",
    },
    "string": {"uuid"},
    "bytes": {"decimal"},
    "fixed": {"decimal"},
}


def parse_schema(text: str, references: Mapping[str, str] | None = None) -> AvroType:
    """The type of a schema. ``references`` are the texts of schemas that it uses, needed ones first."""
    parser = _Parser()
    for referred in (references or {}).values():
        parser.parse(_load(referred), "")
    return parser.parse(_load(text), "")


def _load(text: str) -> Any:
    text = text.strip()
    if text in PRIMITIVES:
        return text  # Registries give the text of a primitive schema with quotes or without.
    try:
        return json.loads(text)
    except ValueError as error:
        raise SchemaUnsupportedError(
            f"This is not the JSON of an Avro schema ({error}): {text[:80]}"
        ) from error


class _Parser:
    """Knows the names defined so far; a name that is still being defined is a type that contains itself."""

    def __init__(self) -> None:
        self._named: dict[str, Named | None] = {}

    def parse(self, schema: Any, namespace: str) -> AvroType:
        if isinstance(schema, str):
            return self._by_name(schema, namespace)
        if isinstance(schema, list):
            return Union(branches=tuple(self.parse(branch, namespace) for branch in schema))
        if not isinstance(schema, dict) or "type" not in schema:
            raise SchemaUnsupportedError(f"This is no Avro schema: {json.dumps(schema)[:80]}")
        match schema["type"]:
            case "record" | "error":
                return self._record(schema, namespace)
            case "enum":
                return self._enumeration(schema, namespace)
            case "fixed":
                return self._fixed(schema, namespace)
            case "array":
                return Array(items=self.parse(_member(schema, "items"), namespace))
            case "map":
                return Map(values=self.parse(_member(schema, "values"), namespace))
            case str(kind) if kind in PRIMITIVES:
                return Primitive(kind=kind, logical=_logical(schema, kind))
            case inner:
                return self.parse(inner, namespace)

    def _by_name(self, name: str, namespace: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(kind=name)
        full_name = name if "." in name or not namespace else f"{namespace}.{name}"
        if full_name not in self._named and name in self._named:
            full_name = name
        if full_name not in self._named:
            raise SchemaUnsupportedError(f"Avro type {full_name!r} is used but nowhere defined.")
        known = self._named[full_name]
        if known is None:
            raise SchemaUnsupportedError(
                f"Avro type {full_name!r} contains itself, and Spark has no recursive types; decode such"
                " records in a function of your own."
            )
        return known

    def _record(self, schema: dict[str, Any], namespace: str) -> Record:
        name, namespace = _names(schema, namespace)
        self._define(name, None)
        fields = tuple(self._field(field, namespace) for field in _member(schema, "fields"))
        record = Record(name=name, fields=fields, aliases=_aliases(schema, namespace))
        self._define(name, record)
        return record

    def _field(self, field: dict[str, Any], namespace: str) -> Field:
        type_ = self.parse(_member(field, "type"), namespace)
        default = field.get("default", MISSING)
        if default is not MISSING:
            default = default_value(type_, default, _member(field, "name"))
        return Field(
            name=_member(field, "name"), type=type_, default=default, aliases=tuple(field.get("aliases", ()))
        )

    def _enumeration(self, schema: dict[str, Any], namespace: str) -> Enumeration:
        name, namespace = _names(schema, namespace)
        known = Enumeration(
            name=name,
            symbols=tuple(_member(schema, "symbols")),
            default=schema.get("default"),
            aliases=_aliases(schema, namespace),
        )
        self._define(name, known)
        return known

    def _fixed(self, schema: dict[str, Any], namespace: str) -> Fixed:
        name, namespace = _names(schema, namespace)
        size = _member(schema, "size")
        known = Fixed(
            name=name, size=size, logical=_logical(schema, "fixed"), aliases=_aliases(schema, namespace)
        )
        self._define(name, known)
        return known

    def _define(self, name: str, type_: Named | None) -> None:
        if type_ is None and name in self._named:
            raise SchemaUnsupportedError(f"Avro type {name!r} is defined twice.")
        self._named[name] = type_


def _member(schema: dict[str, Any], name: str) -> Any:
    if name not in schema:
        raise SchemaUnsupportedError(f"An Avro schema lacks {name!r}: {json.dumps(schema)[:80]}")
    return schema[name]


def _names(schema: dict[str, Any], namespace: str) -> tuple[str, str]:
    """The full name of a named type, and the namespace of the names within it."""
    name = _member(schema, "name")
    if "." in name:
        return name, name.rpartition(".")[0]
    namespace = schema.get("namespace", namespace)
    return (f"{namespace}.{name}" if namespace else name), namespace


def _aliases(schema: dict[str, Any], namespace: str) -> tuple[str, ...]:
    aliases = schema.get("aliases", ())
    return tuple(alias if "." in alias or not namespace else f"{namespace}.{alias}" for alias in aliases)


def _logical(schema: dict[str, Any], kind: str) -> Logical | None:
    name: str = schema.get("logicalType", "")
    if name not in LOGICAL_TYPES.get(kind, ()):
        return None
    if name != "decimal":
        return Logical(name=name)
    precision, scale = schema.get("precision", 0), schema.get("scale", 0)
    if (
        not isinstance(precision, int)
        or not isinstance(scale, int)
        or not 0 <= scale <= precision
        or not precision
    ):
        return None
    return Logical(name=name, precision=precision, scale=scale)
