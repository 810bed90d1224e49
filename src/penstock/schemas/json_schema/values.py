"""JSON values as JSON Schema tells them apart: by type, and by being equal."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from penstock.schemas.json_text import dump_json

INTEGER, FRACTION = "integer", "fraction"
ALL_TYPES = frozenset({"null", "boolean", "object", "array", "string", INTEGER, FRACTION})
"""Numbers are two types here: those that are whole, and the others."""


def types_of(given: Any) -> frozenset[str]:
    """What a ``type`` lets pass."""
    if given is None:
        return ALL_TYPES
    names = {given} if isinstance(given, str) else set(given)
    return frozenset(names - {"number"} | ({INTEGER, FRACTION} if "number" in names else set()))


def type_words(types: Iterable[str]) -> str:
    """Types for a message."""
    names = set(types)
    if {INTEGER, FRACTION} <= names:
        names = names - {INTEGER, FRACTION} | {"number"}
    return " or ".join(sorted("number" if name == FRACTION else name for name in names)) or "nothing"


def type_of(value: Any) -> str:
    """The type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return INTEGER
        case float():
            return INTEGER if value.is_integer() else FRACTION
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def value_key(value: Any) -> str:
    """The same for equal values: 1 and 1.0 are one value, 1 and true are two."""
    return dump_json(_plain(value))


def exact(number: float) -> Fraction:
    """A number of JSON as it is written: 0.1 is a tenth."""
    return Fraction(str(number))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(value[name]) for name in sorted(value)}
    return value
