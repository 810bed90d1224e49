"""An Avro schema's text into its tree of types, with what it refers to. Follows the specification, 1.12.

Names, unions and sizes are taken as they come, since others may have written the schema: ``validation`` looks
at those of new ones. Logical types that are unknown, or stand on a type they do not fit, are ignored, as the
specification demands.
"""

import json
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.schemas.avro.defaults import default_value
from penstock.schemas.avro.names import PRIMITIVES, aliases, defined_names, full_names, meant
from penstock.schemas.avro.schema import (
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
    RecordWithin,
    Union,
)
from penstock.schemas.errors import InvalidSchema
from penstock.schemas.json_text import load_json

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTypes:
    """The type of a whole schema, and every named type that it defines or that its references do."""

    root: AvroType
    named: Mapping[str, Named]


def parse_types(schema: Any, references: Mapping[str, Any]) -> ParsedTypes:
    """The types of a schema's JSON. ``references`` is the JSON of schemas that it uses, in any order."""
    parser = _Parser(references)
    parser.parse_references()
    root = parser.parse(schema, "")
    return ParsedTypes(root=root, named=parser.named())


def load(text: str) -> Any:
    """The JSON of a schema. Registries give the text of a primitive type with quotes or without."""
    text = text.strip()
    return text if text in PRIMITIVES else load_json(text, "an Avro schema")


class _Parser:
    """Knows the names defined so far; of a record that is still being defined only its name is known."""

    def __init__(self, references: Mapping[str, Any]) -> None:
        self._named: dict[str, Named] = {}
        self._waiting = dict(references)
        self._homes = {name: key for key, each in references.items() for name in defined_names(each)}
        self._known = ChainMap[str, Any](self._named, self._homes)

    def named(self) -> dict[str, Named]:
        """All named types by their full names."""
        return self._named

    def parse_references(self) -> None:
        """All schemas that are referred to; each parses those that it needs itself first."""
        while self._waiting:
            self._parse_reference(next(iter(self._waiting)))

    def _parse_reference(self, key: str) -> None:
        self.parse(self._waiting.pop(key), "")

    def parse(self, schema: Any, namespace: str) -> AvroType:
        """The type of a schema or of a part of it."""
        if isinstance(schema, str):
            return self._by_name(schema, namespace)
        if isinstance(schema, list):
            return Union(branches=tuple(self.parse(branch, namespace) for branch in schema))
        if not isinstance(schema, dict) or "type" not in schema:
            raise InvalidSchema(f"This is no Avro schema: {json.dumps(schema)[:80]}")
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
        full_name = meant(name, namespace, self._known)
        home = self._homes.get(full_name)
        if full_name not in self._named and home in self._waiting:
            self._parse_reference(home)
        if full_name not in self._named:
            raise InvalidSchema(f"Avro type {full_name!r} is used but nowhere defined.")
        return self._named[full_name]

    def _record(self, schema: dict[str, Any], namespace: str) -> Record:
        name, namespace = _names(schema, namespace)
        others = _texts(aliases(schema, namespace), f"the aliases of {name}")
        self._define(RecordWithin(name=name, aliases=others))
        members = _list(_member(schema, "fields"), f"the fields of {name}")
        fields = tuple(self._field(field, name, namespace) for field in members)
        record = Record(name=name, fields=fields, aliases=others)
        self._named[name] = record
        return record

    def _field(self, field: Any, record: str, namespace: str) -> Field:
        if not isinstance(field, dict):
            raise InvalidSchema(f"A field of record {record!r} is no object: {json.dumps(field)[:80]}")
        name = _text(_member(field, "name"), f"the name of a field of {record}")
        type_ = self.parse(_member(field, "type"), namespace)
        default = field.get("default", MISSING)
        if default is not MISSING:
            default = default_value(type_, default, name)
        others = _texts(field.get("aliases", ()), f"the aliases of field {name}")
        return Field(name=name, type=type_, default=default, aliases=others)

    def _enumeration(self, schema: dict[str, Any], namespace: str) -> Enumeration:
        name, namespace = _names(schema, namespace)
        known = Enumeration(
            name=name,
            symbols=_texts(
                _list(_member(schema, "symbols"), f"the symbols of {name}"), f"a symbol of {name}"
            ),
            default=schema.get("default"),
            aliases=_texts(aliases(schema, namespace), f"the aliases of {name}"),
        )
        self._define(known)
        return known

    def _fixed(self, schema: dict[str, Any], namespace: str) -> Fixed:
        name, namespace = _names(schema, namespace)
        size = _member(schema, "size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise InvalidSchema(
                f"The size of fixed {name!r} is {json.dumps(size)[:80]}; it is a number of bytes."
            )
        known = Fixed(
            name=name, size=size, logical=_logical(schema, "fixed"), aliases=aliases(schema, namespace)
        )
        self._define(known)
        return known

    def _define(self, type_: Named) -> None:
        if type_.name in self._named:
            raise InvalidSchema(f"Avro type {type_.name!r} is defined twice.")
        self._named[type_.name] = type_


def _member(schema: dict[str, Any], name: str) -> Any:
    if name not in schema:
        raise InvalidSchema(f"An Avro schema lacks {name!r}: {json.dumps(schema)[:80]}")
    return schema[name]


def _names(schema: dict[str, Any], namespace: str) -> tuple[str, str]:
    _text(_member(schema, "name"), "the name of an Avro type")
    if schema.get("namespace") is not None:
        _text(schema["namespace"], f"the namespace of {schema['name']}")
    return full_names(schema, namespace)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidSchema(f"{what[:1].upper()}{what[1:]} is no text: {json.dumps(value)[:80]}")
    return value


def _texts(values: Any, what: str) -> tuple[str, ...]:
    return tuple(_text(value, what) for value in values)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidSchema(f"{what[:1].upper()}{what[1:]} are no list: {json.dumps(value)[:80]}")
    return value


def _logical(schema: dict[str, Any], kind: str) -> Logical | None:
    name = schema.get("logicalType")
    if not isinstance(name, str) or name not in LOGICAL_TYPES.get(kind, ()):
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
