"""Spark's types as Arrow's and back."""

import pyarrow as pa
import pytest
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_type

from penstock.spark.registry.arrow_types import arrow_type, spark_type_of
from penstock.spark.registry.errors import SchemaUnsupportedError

EVERY = t.StructType(
    [
        t.StructField(f"f{index}", type_)
        for index, type_ in enumerate(
            [
                *(t.NullType(), t.BooleanType(), t.ByteType(), t.ShortType(), t.IntegerType(), t.LongType()),
                *(t.FloatType(), t.DoubleType(), t.StringType(), t.BinaryType(), t.DateType()),
                *(t.TimestampType(), t.TimestampNTZType(), t.DayTimeIntervalType(), t.DecimalType(9, 2)),
                *(t.ArrayType(t.LongType()), t.MapType(t.StringType(), t.ArrayType(t.DateType()))),
                t.StructType([t.StructField("x", t.LongType())]),
            ]
        )
    ]
)


def test_types_are_those_that_spark_sends_and_come_back() -> None:
    arrow = arrow_type(EVERY)
    assert arrow == to_arrow_type(EVERY, timezone="UTC")
    assert spark_type_of(arrow) == EVERY


def test_what_has_no_schema_is_refused() -> None:
    with pytest.raises(SchemaUnsupportedError, match="variant"):
        arrow_type(t.VariantType())
    with pytest.raises(SchemaUnsupportedError, match="halffloat"):
        spark_type_of(pa.float16())
