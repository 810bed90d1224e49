"""fastavro's value of a union as the struct of members that Spark has for it.

Only unions of several types besides null need this; with ``return_named_type`` fastavro gives values of named
types in unions as pairs of name and value, and the others are told apart by Python's types.
"""

from collections.abc import Callable
from typing import Any

from penstock.schemas.avro.schema import (
    Array,
    AvroType,
    Enumeration,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    type_name,
)
from penstock.spark.registry.avro.spark_types import member_name, members
from penstock.spark.registry.errors import SchemaUnsupportedError

Shape = Callable[[Any], Any]

_PYTHON_TYPES: dict[str, type] = {
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "bytes": bytes,
    "string": str,
}


def has_members(avro: AvroType) -> bool:
    """Whether there is a union in it that becomes a struct of members."""
    match avro:
        case Array():
            return has_members(avro.items)
        case Map():
            return has_members(avro.values)
        case Record():
            return any(has_members(field.type) for field in avro.fields)
        case Union():
            return len(members(avro)) > 1 or any(has_members(branch) for branch in avro.branches)
    return False


def shape_of(avro: AvroType) -> Shape:
    """A function that puts the values of all unions within a value into their members."""
    match avro:
        case Array():
            item = shape_of(avro.items)
            return lambda value: [item(each) for each in value]
        case Map():
            mapped = shape_of(avro.values)
            return lambda value: {key: mapped(each) for key, each in value.items()}
        case Record():
            fields = [(field.name, shape_of(field.type)) for field in avro.fields]
            return lambda value: {name: shape(value[name]) for name, shape in fields}
        case Union():
            return _union_shape(avro)
    return _untagged


def _union_shape(union: Union) -> Shape:
    others = members(union)
    if len(others) <= 1:
        inner = shape_of(others[0]) if others else _untagged
        return lambda value: None if value is None else inner(_untagged(value))
    _check_distinct(others)
    shapes = [shape_of(branch) for branch in others]

    def shape(value: Any) -> Any:
        if value is None:
            return None
        index = _member_of(value, others)
        return {member_name(index): shapes[index](_untagged(value))}

    return shape


def _untagged(value: Any) -> Any:
    return value[1] if isinstance(value, tuple) else value


def _member_of(value: Any, others: tuple[AvroType, ...]) -> int:
    for index, branch in enumerate(others):
        if _is_of(value, branch):
            return index
    raise ValueError(f"no branch of the union takes a {type(value).__name__}")


def _is_of(value: Any, branch: AvroType) -> bool:
    match branch:
        case Primitive():
            return type(value) is _PYTHON_TYPES.get(branch.kind)
        case Array():
            return isinstance(value, list)
        case Map():
            return isinstance(value, dict)
        case Record() if isinstance(value, dict):
            # Not tagged: the writer had no union there, so only one record can be meant.
            return {field.name for field in branch.fields} == value.keys()
        case Fixed() | Enumeration() | Record():
            return isinstance(value, tuple) and bool(value[0] == branch.name)
    return False


def _check_distinct(others: tuple[AvroType, ...]) -> None:
    kinds = [_PYTHON_TYPES.get(branch.kind) for branch in others if isinstance(branch, Primitive)]
    if len(set(kinds)) < len(kinds):
        raise SchemaUnsupportedError(
            f"The union {type_name(Union(branches=others))} has two kinds of numbers besides other types;"
            " which one a value was cannot be told any more."
        )
