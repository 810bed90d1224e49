"""The default of a field out of its JSON in a schema: text becomes bytes, records get their own defaults."""

from typing import Any

from penstock.schemas.avro.schema import (
    MISSING,
    Array,
    AvroType,
    Enumeration,
    Fixed,
    Map,
    Primitive,
    Record,
    RecordWithin,
    Union,
    type_name,
)
from penstock.schemas.errors import InvalidSchema

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "string": (str,),
    "bytes": (str,),
}

_LIMITS = {"int": 2**31, "long": 2**63}


def default_value(avro: AvroType, default: Any, field_name: str) -> Any:
    """The value that a JSON default stands for; of a union, a value of the first branch that takes it."""
    try:
        return _value(avro, default)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InvalidSchema(
            f"Field {field_name!r}: the default {default!r} is no {type_name(avro)} ({error})."
        ) from error


def _value(avro: AvroType, default: Any) -> Any:
    match avro:
        case Primitive():
            return _primitive(avro.kind, default)
        case Fixed():
            return _fixed(avro, default)
        case Enumeration():
            if default not in avro.symbols:
                raise ValueError(f"the symbols are {', '.join(avro.symbols)}")
            return default
        case Array():
            if not isinstance(default, list):
                raise TypeError(f"its JSON is a {type(default).__name__}")
            return [_value(avro.items, item) for item in default]
        case Map():
            return {key: _value(avro.values, value) for key, value in default.items()}
        case RecordWithin():
            raise ValueError("a record within itself has no default but null")
        case Record():
            return _record(avro, default)
        case Union():
            return _union(avro, default)


def _primitive(kind: str, default: Any) -> Any:
    is_fitting = isinstance(default, _JSON_TYPES[kind])
    if not is_fitting or (isinstance(default, bool) and kind != "boolean"):
        raise TypeError(f"its JSON is a {type(default).__name__}")
    if kind in _LIMITS and not -_LIMITS[kind] <= default < _LIMITS[kind]:
        raise ValueError(f"an {kind} has {_LIMITS[kind].bit_length()} bits")
    if kind == "bytes":
        return default.encode("latin-1")
    return float(default) if kind in ("float", "double") else default


def _fixed(fixed: Fixed, default: str) -> bytes:
    value = default.encode("latin-1")
    if len(value) != fixed.size:
        raise ValueError(f"it is {len(value)} bytes long, not {fixed.size}")
    return value


def _record(record: Record, default: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(default, dict):
        raise TypeError(f"its JSON is a {type(default).__name__}")
    values = {}
    for field in record.fields:
        if field.name in default:
            values[field.name] = _value(field.type, default[field.name])
        elif field.default is MISSING:
            raise ValueError(f"nothing for field {field.name!r}")
        else:
            values[field.name] = field.default
    return values


def _union(union: Union, default: Any) -> Any:
    # Up to 1.11 a default had to be of the first branch; since 1.12 any branch may take it.
    for branch in union.branches:
        try:
            return _value(branch, default)
        except (TypeError, ValueError, AttributeError, KeyError):
            continue
    raise ValueError("no branch of the union takes it")
