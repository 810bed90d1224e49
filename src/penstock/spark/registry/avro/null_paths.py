"""Where in a value a null stands for which an Avro schema has no room: the way there, for an error."""

from typing import Any

from penstock.schemas.avro.schema import NULL, Array, AvroType, Map, Record, Union
from penstock.spark.registry.avro.spark_types import member_name, members


def null_path(value: Any, avro: AvroType) -> str:
    """The first such place in a value in Python's types, or "the value" if it is the whole."""
    return _search(value, avro, "") or "the value"


def _search(value: Any, avro: AvroType, path: str) -> str | None:
    if isinstance(avro, Union):
        return _search_union(value, avro, path)
    if value is None:
        return path
    for name, inner, inner_type in _parts(value, avro):
        found = _search(inner, inner_type, f"{path}.{name}" if path else name)
        if found is not None:
            return found
    return None


def _parts(value: Any, avro: AvroType) -> list[tuple[str, Any, AvroType]]:
    match avro:
        case Record():
            return [
                (field.name, value[field.name], field.type) for field in avro.fields if field.name in value
            ]
        case Array():
            return [(f"[{index}]", item, avro.items) for index, item in enumerate(value)]
        case Map():
            return [(f"{{{key}}}", item, avro.values) for key, item in value]
    return []


def _search_union(value: Any, union: Union, path: str) -> str | None:
    if value is None:
        return None if NULL in union.branches else path
    others = members(union)
    if len(others) == 1:
        return _search(value, others[0], path)
    for index, branch in enumerate(others):
        if value[member_name(index)] is not None:
            return _search(value[member_name(index)], branch, path)
    return None
