"""A .proto text for a Spark type: proto3, with ``optional`` where a column may be null.

There is no type for decimals, dates and arrays of arrays; they must be cast first.
"""

import re

from pyspark.sql import types as t

from penstock.spark.registry.errors import SchemaUnsupportedError

_TIMESTAMP_IMPORT = 'import "google/protobuf/timestamp.proto";'
_DURATION_IMPORT = 'import "google/protobuf/duration.proto";'
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCALARS: dict[type[t.DataType], str] = {
    t.BooleanType: "bool",
    t.ByteType: "int32",
    t.ShortType: "int32",
    t.IntegerType: "int32",
    t.LongType: "int64",
    t.FloatType: "float",
    t.DoubleType: "double",
    t.StringType: "string",
    t.BinaryType: "bytes",
    t.TimestampType: "google.protobuf.Timestamp",
    t.DayTimeIntervalType: "google.protobuf.Duration",
}


def proto_text(struct: t.DataType, *, name: str = "Value", package: str = "") -> str:
    """A file with one message, and the messages within it."""
    if not isinstance(struct, t.StructType):
        raise SchemaUnsupportedError(f"A Protobuf message is a struct, not {struct.simpleString()}.")
    body = "\n".join(_message(struct, name, ""))
    lines = ['syntax = "proto3";']
    lines += [f"package {package};"] if package else []
    lines += [_TIMESTAMP_IMPORT] if ".Timestamp " in body else []
    lines += [_DURATION_IMPORT] if ".Duration " in body else []
    return "\n".join([*lines, "", body, ""])


def _message(struct: t.StructType, name: str, indent: str) -> list[str]:
    lines = [f"{indent}message {name} {{"]
    inner = indent + "  "
    for number, field in enumerate(struct.fields, 1):
        if not _NAME.fullmatch(field.name):
            raise SchemaUnsupportedError(
                f"Protobuf has no field named {field.name!r}: letters, digits and _ only; rename the column."
            )
        nested = _nested(field.dataType)
        nested_name = f"{field.name[:1].upper()}{field.name[1:]}Message"
        if nested is not None:
            lines += _message(nested, nested_name, inner)
        lines.append(f"{inner}{_declaration(field.dataType, nested_name)} {field.name} = {number};")
    return [*lines, f"{indent}}}"]


def _nested(spark: t.DataType) -> t.StructType | None:
    if isinstance(spark, t.ArrayType):
        return _nested(spark.elementType)
    if isinstance(spark, t.MapType):
        return _nested(spark.valueType)
    return spark if isinstance(spark, t.StructType) else None


def _declaration(spark: t.DataType, nested_name: str) -> str:
    if isinstance(spark, t.ArrayType):
        return f"repeated {_single(spark.elementType, nested_name)}"
    if isinstance(spark, t.MapType):
        if not isinstance(spark.keyType, t.StringType | t.IntegerType | t.LongType | t.BooleanType):
            raise SchemaUnsupportedError(
                f"Protobuf's maps have no keys of {spark.keyType.simpleString()}; cast the keys."
            )
        return f"map<{_single(spark.keyType, '')}, {_single(spark.valueType, nested_name)}>"
    return f"optional {_single(spark, nested_name)}"


def _single(spark: t.DataType, nested_name: str) -> str:
    if isinstance(spark, t.StructType):
        return nested_name
    if type(spark) not in _SCALARS:
        raise SchemaUnsupportedError(
            f"There is no Protobuf type for Spark's {spark.simpleString()} here; cast it to another."
        )
    return _SCALARS[type(spark)]
