"""Which columns rows must and may have to become records, checked before anything is written.

Columns are those of Spark's Kafka connector, and ``timestamp``. Spark checks nothing of what is written to a
Python data source, so this is the only place where a mistake is noticed before it is on a topic.
"""

from collections.abc import Mapping

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
)

from penstock.model.errors import UsageError

_TEXT_OR_BYTES = "string or binary"

ALLOWED: Mapping[str, str] = {
    "key": _TEXT_OR_BYTES,
    "value": _TEXT_OR_BYTES,
    "headers": "array<struct<key:string,value:binary>>",
    "topic": "string",
    "partition": "int",
    "timestamp": "timestamp",
}
"""The columns of a row that is written, with the types that each may have."""


class RowSchemaError(UsageError):
    """A DataFrame whose rows cannot become records."""


def check_row_schema(schema: StructType, *, topic: str | None) -> None:
    """Raise ``RowSchemaError`` unless rows of this schema can be written, to ``topic`` if it is given."""
    for field in schema.fields:
        _check_column(field.name, field.dataType)
    names = [field.name for field in schema.fields]
    for name in names:
        if names.count(name) > 1:
            raise RowSchemaError(f"There are {names.count(name)} columns {name!r}: drop or rename some.")
    if "value" not in names:
        raise RowSchemaError(
            f"There is no column 'value', which is what is written; there are {', '.join(names) or 'none'}. "
            "Make one, for example with to_json(struct(*)) AS value."
        )
    if topic is None and "topic" not in names:
        raise RowSchemaError(
            "Nothing says which topic to write to: give the option topic, or rows a column topic."
        )


def _check_column(name: str, kind: DataType) -> None:
    if name not in ALLOWED:
        raise RowSchemaError(
            f"Column {name!r} ({kind.simpleString()}) is none that a record has; those are "
            f"{', '.join(ALLOWED)}. Drop it, or put it into value, for example with to_json(struct(*))."
        )
    if not _is_allowed(name, kind):
        raise RowSchemaError(
            f"Column {name!r} is {kind.simpleString()}; it must be {ALLOWED[name]}: cast it."
        )


def _is_allowed(name: str, kind: DataType) -> bool:
    match name:
        case "key" | "value":
            return isinstance(kind, StringType | BinaryType)
        case "topic":
            return isinstance(kind, StringType)
        case "partition":
            return isinstance(kind, IntegerType)
        case "timestamp":
            return isinstance(kind, TimestampType)
        case _:
            return _is_headers(kind)


def _is_headers(kind: DataType) -> bool:
    if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, StructType):
        return False
    fields = [(field.name, type(field.dataType)) for field in kind.elementType.fields]
    return fields == [("key", StringType), ("value", BinaryType)]
