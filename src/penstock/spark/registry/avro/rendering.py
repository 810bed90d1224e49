"""A tree of Avro types back into the JSON of a schema: for registries, and, with raw types, for fastavro.

Raw means without logical types: fastavro then gives and takes the numbers and bytes as they are written, and
what they stand for is made of whole columns, which is faster, and exact where fastavro rounds.
"""

from typing import Any

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
    Union,
)


def render(avro: AvroType) -> Any:
    """The JSON of a schema. Defaults must be values that JSON can show, as those of ``avro_type`` are."""
    return _Renderer(is_raw=False).render(avro)


def render_raw(avro: AvroType) -> Any:
    """The schema as fastavro takes it, without logical types; its defaults are Python's values."""
    return _Renderer(is_raw=True).render(avro)


class _Renderer:
    def __init__(self, *, is_raw: bool) -> None:
        self._is_raw = is_raw
        self._defined: set[str] = set()

    def render(self, avro: AvroType) -> Any:
        match avro:
            case Primitive():
                return self._with_logical({"type": avro.kind}, avro.logical)
            case Fixed() | Enumeration() | Record():
                return self._named(avro)
            case Array():
                return {"type": "array", "items": self.render(avro.items)}
            case Map():
                return {"type": "map", "values": self.render(avro.values)}
            case Union():
                return [self.render(branch) for branch in avro.branches]

    def _named(self, avro: Named) -> Any:
        if avro.name in self._defined:
            return avro.name
        self._defined.add(avro.name)
        schema: dict[str, Any] = {"type": "record", "name": avro.name}
        if avro.aliases:
            schema["aliases"] = list(avro.aliases)
        match avro:
            case Fixed():
                return self._with_logical({**schema, "type": "fixed", "size": avro.size}, avro.logical)
            case Enumeration():
                default = {} if avro.default is None else {"default": avro.default}
                return {**schema, "type": "enum", "symbols": list(avro.symbols), **default}
            case Record():
                return {**schema, "fields": [self._field(field) for field in avro.fields]}

    def _field(self, field: Field) -> dict[str, Any]:
        schema: dict[str, Any] = {"name": field.name, "type": self.render(field.type)}
        if field.default is not MISSING:
            schema["default"] = field.default
        if field.aliases:
            schema["aliases"] = list(field.aliases)
        return schema

    def _with_logical(self, schema: dict[str, Any], logical: Logical | None) -> Any:
        if logical is None or self._is_raw:
            return schema["type"] if len(schema) == 1 else schema
        if logical.name == "decimal":
            return {
                **schema,
                "logicalType": "decimal",
                "precision": logical.precision,
                "scale": logical.scale,
            }
        return {**schema, "logicalType": logical.name}
