"""Spark's types as Arrow's, exactly as Spark wants them back from Python."""

from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

from penstock.spark.registry.errors import SchemaUnsupportedError

_SIMPLE: dict[type[t.DataType], Any] = {
    t.NullType: pa.null(),
    t.BooleanType: pa.bool_(),
    t.ByteType: pa.int8(),
    t.ShortType: pa.int16(),
    t.IntegerType: pa.int32(),
    t.LongType: pa.int64(),
    t.FloatType: pa.float32(),
    t.DoubleType: pa.float64(),
    t.StringType: pa.string(),
    t.BinaryType: pa.binary(),
    t.DateType: pa.date32(),
    t.TimestampType: pa.timestamp("us", tz="UTC"),
    t.TimestampNTZType: pa.timestamp("us"),
    t.DayTimeIntervalType: pa.duration("us"),
}


def arrow_type(spark: t.DataType) -> Any:
    """The Arrow type in which Spark sends and expects a column of that type."""
    if isinstance(spark, t.StructType):
        return pa.struct([pa.field(field.name, arrow_type(field.dataType)) for field in spark.fields])
    if isinstance(spark, t.ArrayType):
        return pa.list_(pa.field("element", arrow_type(spark.elementType)))
    if isinstance(spark, t.MapType):
        return pa.map_(arrow_type(spark.keyType), arrow_type(spark.valueType))
    if isinstance(spark, t.DecimalType):
        return pa.decimal128(spark.precision, spark.scale)
    if type(spark) not in _SIMPLE:
        raise SchemaUnsupportedError(f"Columns of Spark's type {spark.simpleString()} have no schema here.")
    return _SIMPLE[type(spark)]


def spark_type_of(arrow: Any) -> t.DataType:
    """The reverse: the Spark type of a column that came from Spark."""
    if pa.types.is_struct(arrow):
        return t.StructType([t.StructField(field.name, spark_type_of(field.type)) for field in arrow])
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return t.ArrayType(spark_type_of(arrow.value_type))
    if pa.types.is_map(arrow):
        return t.MapType(spark_type_of(arrow.key_type), spark_type_of(arrow.item_type))
    if pa.types.is_decimal(arrow):
        return t.DecimalType(arrow.precision, arrow.scale)
    if pa.types.is_timestamp(arrow):
        return t.TimestampNTZType() if arrow.tz is None else t.TimestampType()
    for spark, known in _SIMPLE.items():
        if arrow == known:
            return spark()
    raise SchemaUnsupportedError(f"Columns of Arrow's type {arrow} have no schema here.")
