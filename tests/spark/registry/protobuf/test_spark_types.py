"""Protobuf's messages as Spark's types and back."""

import pytest
from pyspark.sql import types as t
from tests.spark.registry.protobuf.proto_samples import ALL_KINDS

from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.protobuf.messages import message_descriptor
from penstock.spark.registry.protobuf.proto_text import proto_text
from penstock.spark.registry.protobuf.spark_types import spark_type

INNER = "struct<name:string,value:double,deltas:array<bigint>>"


def test_every_kind_of_field_has_its_type() -> None:
    struct = spark_type(message_descriptor(ALL_KINDS, {}))
    assert isinstance(struct, t.StructType)
    assert {field.name: field.dataType.simpleString() for field in struct} == {
        **{"a_double": "double", "a_float": "float", "an_int32": "int", "an_int64": "bigint"},
        **{"a_uint32": "bigint", "a_uint64": "decimal(20,0)", "a_sint32": "int", "a_sint64": "bigint"},
        **{"a_fixed32": "bigint", "a_fixed64": "decimal(20,0)", "an_sfixed32": "int"},
        **{"an_sfixed64": "bigint", "a_bool": "boolean", "a_string": "string", "some_bytes": "binary"},
        **{"colour": "string", "inner": INNER, "maybe": "int", "numbers": "array<int>"},
        **{"words": "array<string>", "inners": f"array<{INNER}>", "counts": "map<string,bigint>"},
        **{"by_number": f"map<int,{INNER}>", "text": "string", "number": "bigint", "other": INNER},
        **{"at": "timestamp", "took": "interval day to second", "wrapped": "string"},
        **{"fixed": "array<bigint>", "loose": "array<boolean>", "colours": "array<string>"},
    }


def test_message_that_contains_itself_is_refused() -> None:
    text = 'syntax = "proto3"; message Tree { repeated Tree children = 1; }'
    with pytest.raises(SchemaUnsupportedError, match="'Tree' contains itself"):
        spark_type(message_descriptor(text, {}))


def test_text_for_a_spark_type_is_read_as_that_type() -> None:
    inner = t.StructType([t.StructField("x", t.IntegerType())])
    struct = t.StructType(
        [
            t.StructField("flag", t.BooleanType()),
            t.StructField("number", t.LongType()),
            t.StructField("small", t.IntegerType()),
            t.StructField("ratio", t.DoubleType()),
            t.StructField("half", t.FloatType()),
            t.StructField("word", t.StringType()),
            t.StructField("raw", t.BinaryType()),
            t.StructField("at", t.TimestampType()),
            t.StructField("took", t.DayTimeIntervalType()),
            t.StructField("words", t.ArrayType(t.StringType())),
            t.StructField("inner", inner),
            t.StructField("inners", t.ArrayType(inner)),
            t.StructField("by_name", t.MapType(t.StringType(), inner)),
            t.StructField("counts", t.MapType(t.IntegerType(), t.LongType())),
        ]
    )
    text = proto_text(struct, name="Order", package="shop")
    message = message_descriptor(text, {})
    assert message.full_name == "shop.Order"
    assert spark_type(message) == struct


@pytest.mark.parametrize(
    ("spark", "words"),
    [
        (t.IntegerType(), "is a struct, not int"),
        (t.StructType([t.StructField("a", t.DecimalType(5, 2))]), "no Protobuf type for Spark's decimal"),
        (t.StructType([t.StructField("a", t.ArrayType(t.ArrayType(t.LongType())))]), "array<bigint>"),
        (t.StructType([t.StructField("a", t.MapType(t.DoubleType(), t.LongType()))]), "no keys of double"),
        (t.StructType([t.StructField("a b", t.LongType())]), "no field named 'a b'"),
    ],
)
def test_what_protobuf_cannot_say_is_refused(spark: t.DataType, words: str) -> None:
    with pytest.raises(SchemaUnsupportedError, match=words):
        proto_text(spark)
