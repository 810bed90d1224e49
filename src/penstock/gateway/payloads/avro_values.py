"""Plain values made ready for an Avro schema: text becomes bytes, decimals and moments where it has them."""

import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping
from typing import Any

_LOGICAL: Mapping[str, Callable[[str], Any]] = {
    "decimal": decimal.Decimal,
    "uuid": uuid.UUID,
    "date": datetime.date.fromisoformat,
    "time-millis": datetime.time.fromisoformat,
    "time-micros": datetime.time.fromisoformat,
    "timestamp-millis": datetime.datetime.fromisoformat,
    "timestamp-micros": datetime.datetime.fromisoformat,
    "local-timestamp-millis": datetime.datetime.fromisoformat,
    "local-timestamp-micros": datetime.datetime.fromisoformat,
}
"""What makes a value of text; numbers are taken as they are."""


class AvroValues:
    """Goes through a value as its schema says; what does not fit is left for the writer to refuse."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._named: dict[str, Any] = {}
        self._collect(schema, namespace="")

    def datum(self, value: Any) -> Any:
        """The value as fastavro wants it."""
        return self._made(self._schema, value)

    def _made(self, schema: Any, value: Any) -> Any:
        if isinstance(schema, list):
            return self._of_union(schema, value)
        if isinstance(schema, str):
            return self._made(self._named[schema], value) if schema in self._named else _scalar(schema, value)
        kind, logical = schema["type"], schema.get("logicalType")
        if logical in _LOGICAL and isinstance(value, str):
            return _LOGICAL[logical](value)
        if kind == "record" and isinstance(value, dict):
            types = {field["name"]: field["type"] for field in schema["fields"]}
            return {
                name: self._made(types[name], each) if name in types else each for name, each in value.items()
            }
        if kind == "array" and isinstance(value, list):
            return [self._made(schema["items"], each) for each in value]
        if kind == "map" and isinstance(value, dict):
            return {name: self._made(schema["values"], each) for name, each in value.items()}
        if kind in ("record", "array", "map", "enum"):
            return value
        return _scalar(kind, value) if isinstance(kind, str) else self._made(kind, value)

    def _of_union(self, branches: list[Any], value: Any) -> Any:
        """The first branch that makes something else of the value, unless one takes it as it is."""
        for branch in branches:
            kind = branch.get("type") if isinstance(branch, dict) else branch
            if kind == "string" and isinstance(value, str):
                return value
        for branch in branches:
            try:
                made = self._made(branch, value)
            except (ValueError, TypeError, ArithmeticError):
                continue
            if made is not value:
                return made
        return value

    def _collect(self, schema: Any, *, namespace: str) -> None:
        """Remember the types that have names, under the full and the short one."""
        if isinstance(schema, list):
            for branch in schema:
                self._collect(branch, namespace=namespace)
        if not isinstance(schema, dict):
            return
        inner = schema.get("namespace", namespace)
        if "name" in schema:
            name = schema["name"]
            full = name if "." in name or not inner else f"{inner}.{name}"
            self._named |= {full: schema, name: schema}
        for field in schema.get("fields", ()):
            self._collect(field["type"], namespace=inner)
        for part in ("items", "values", "type"):
            self._collect(schema.get(part), namespace=inner)


def _scalar(kind: str, value: Any) -> Any:
    if kind in ("bytes", "fixed") and isinstance(value, str):
        return bytes.fromhex(value[2:]) if value.startswith("0x") else value.encode()
    if kind in ("float", "double") and isinstance(value, str):
        return float(value)
    return value
