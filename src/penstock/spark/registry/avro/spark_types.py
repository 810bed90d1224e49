"""The Spark type of an Avro type, as Spark's own ``from_avro`` maps them, and an Avro type for a Spark type.

A union of null and another type is a column that may be null; int with long, and float with double, are the
wider one; any other union is a struct of ``member0``, ``member1``... of which at most one is set. Times of
day stay numbers. Decimals of over 38 digits have no Spark type.
"""

import re

from pyspark.sql import types as t

from penstock.schemas.avro.schema import (
    NULL,
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
)
from penstock.spark.registry.errors import SchemaUnsupportedError

DECIMAL_DIGITS_MAX = 38
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_PRIMITIVES: dict[str, t.DataType] = {
    "null": t.NullType(),
    "boolean": t.BooleanType(),
    "int": t.IntegerType(),
    "long": t.LongType(),
    "float": t.FloatType(),
    "double": t.DoubleType(),
    "bytes": t.BinaryType(),
    "string": t.StringType(),
}
_LOGICAL: dict[str, t.DataType] = {
    "date": t.DateType(),
    "timestamp-millis": t.TimestampType(),
    "timestamp-micros": t.TimestampType(),
    "local-timestamp-millis": t.TimestampNTZType(),
    "local-timestamp-micros": t.TimestampNTZType(),
}
_WIDER = ({"int", "long"}, {"float", "double"})


def spark_type(avro: AvroType) -> t.DataType:
    """The type of a column of such values."""
    match avro:
        case Primitive():
            return _logical_type(avro.logical) or _PRIMITIVES[avro.kind]
        case Fixed():
            return _logical_type(avro.logical) or t.BinaryType()
        case Enumeration():
            return t.StringType()
        case Array():
            return t.ArrayType(spark_type(avro.items))
        case Map():
            return t.MapType(t.StringType(), spark_type(avro.values))
        case Record():
            return _struct(avro)
        case Union():
            return _union_type(avro)


def members(union: Union) -> tuple[AvroType, ...]:
    """The branches that a union's column has room for: without null, and of two numbers the wider one."""
    others = tuple(branch for branch in union.branches if branch != NULL)
    if {branch.kind for branch in others if isinstance(branch, Primitive)} in _WIDER and all(
        isinstance(branch, Primitive) and branch.logical is None for branch in others
    ):
        return tuple(branch for branch in others if branch.kind in ("long", "double"))  # type: ignore[union-attr]
    return others


def member_name(index: int) -> str:
    """The field of a struct that a union's branch becomes."""
    return f"member{index}"


def avro_type(spark: t.DataType, *, name: str = "topLevelRecord", namespace: str = "") -> AvroType:
    """The Avro type for a Spark type, as ``to_avro`` has it; everything within it may be null."""
    match spark:
        case t.StructType():
            return _record(spark, name, namespace)
        case t.ArrayType():
            return Array(items=_nullable(avro_type(spark.elementType, name=name, namespace=namespace)))
        case t.MapType():
            if not isinstance(spark.keyType, t.StringType):
                raise SchemaUnsupportedError(
                    f"Avro's maps have strings as keys, not {spark.keyType.simpleString()}; cast the keys."
                )
            return Map(values=_nullable(avro_type(spark.valueType, name=name, namespace=namespace)))
        case t.DecimalType():
            logical = Logical(name="decimal", precision=spark.precision, scale=spark.scale)
            return Primitive(kind="bytes", logical=logical)
    if type(spark) not in _FROM_SPARK:
        raise SchemaUnsupportedError(
            f"There is no Avro type for Spark's {spark.simpleString()}; cast it first."
        )
    return _FROM_SPARK[type(spark)]


_FROM_SPARK: dict[type[t.DataType], Primitive] = {
    t.BooleanType: Primitive(kind="boolean"),
    t.ByteType: Primitive(kind="int"),
    t.ShortType: Primitive(kind="int"),
    t.IntegerType: Primitive(kind="int"),
    t.LongType: Primitive(kind="long"),
    t.FloatType: Primitive(kind="float"),
    t.DoubleType: Primitive(kind="double"),
    t.StringType: Primitive(kind="string"),
    t.BinaryType: Primitive(kind="bytes"),
    t.DateType: Primitive(kind="int", logical=Logical(name="date")),
    t.TimestampType: Primitive(kind="long", logical=Logical(name="timestamp-micros")),
    t.TimestampNTZType: Primitive(kind="long", logical=Logical(name="local-timestamp-micros")),
}


def _logical_type(logical: Logical | None) -> t.DataType | None:
    if logical is None:
        return None
    if logical.name == "decimal":
        if logical.precision > DECIMAL_DIGITS_MAX:
            raise SchemaUnsupportedError(
                f"A decimal of {logical.precision} digits has no Spark type; limit {DECIMAL_DIGITS_MAX}."
            )
        return t.DecimalType(logical.precision, logical.scale)
    return _LOGICAL.get(logical.name)


def _struct(record: Record) -> t.StructType:
    return t.StructType([t.StructField(field.name, spark_type(field.type)) for field in record.fields])


def _union_type(union: Union) -> t.DataType:
    others = members(union)
    if not others:
        return t.NullType()
    if len(others) == 1:
        return spark_type(others[0])
    return t.StructType(
        [t.StructField(member_name(index), spark_type(branch)) for index, branch in enumerate(others)]
    )


def _record(struct: t.StructType, name: str, namespace: str) -> Record:
    """Nested records are named by the way to them, since a name may be given once only."""
    full_name = f"{namespace}.{name}" if namespace else name
    for field in struct.fields:
        if not _NAME.fullmatch(field.name):
            raise SchemaUnsupportedError(
                f"Avro has no field named {field.name!r}: letters, digits and _ only; rename the column."
            )
    fields = [
        Field(
            name=field.name,
            type=_nullable(avro_type(field.dataType, name=field.name, namespace=full_name)),
            default=None,
        )
        for field in struct.fields
    ]
    return Record(name=full_name, fields=tuple(fields))


def _nullable(avro: AvroType) -> Union:
    return Union(branches=(NULL, avro))
