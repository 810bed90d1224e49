"""What the two public functions have in common.

Where schemas are, which subject, which kind of schema text.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import types as t

from penstock.model.errors import UsageError
from penstock.spark.registry.address import Registry
from penstock.spark.registry.lookup import Location
from penstock.spark.registry.registered import Format
from penstock.spark.registry.schema_files import read_schemas

Schemas = str | Path | Mapping[int, Any]
Schema = str | t.DataType
_BEGINS_JSON = ("{", "[", '"')


def location_of(url: str | Registry | None, schemas: Schemas | None) -> Location | None:
    """The registry's address, or the schemas that stand in for one; None if neither is given."""
    if url is not None and schemas is not None:
        raise UsageError("Schemas come from url= or from schemas=, not from both.")
    if schemas is not None:
        return read_schemas(schemas)
    return Registry(url=url) if isinstance(url, str) else url


def needed_location(location: Location | None) -> Location:
    """The same, where there is no way without."""
    if location is None:
        raise UsageError(
            "Where are the schemas? Give url='http://host:8081', or schemas= a directory or a dictionary."
        )
    return location


def subject_of(subject: str | None, topic: str | None, *, is_key: bool) -> str | None:
    """The subject: as named, or that of a topic's values or keys."""
    if subject is not None and topic is not None:
        raise UsageError(f"Give subject={subject!r} or topic={topic!r}, not both.")
    if topic is None:
        return subject
    return f"{topic}-{'key' if is_key else 'value'}"


def is_schema_text(schema: Schema, format_: Format | None) -> bool:
    """Whether it is a text of the format's own, and not one of Spark's types."""
    if not isinstance(schema, str):
        return False
    if format_ is Format.PROTOBUF:
        return "{" in schema
    return schema.lstrip().startswith(_BEGINS_JSON)


def as_type(schema: Schema) -> t.DataType:
    """One of Spark's types, out of its text if it is one."""
    return t.DataType.fromDDL(schema) if isinstance(schema, str) else schema


def one_of(name: str, value: str, known: tuple[str, ...], advice: str = "") -> str:
    """A setting that has a few values, in any case."""
    for each in known:
        if value.upper() == each.upper():
            return each
    raise UsageError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}.{advice}")
