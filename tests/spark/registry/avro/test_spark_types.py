"""Avro's types as Spark's and back."""

import json
from typing import Any

import pytest
from pyspark.sql import types as t

from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.avro.rendering import render
from penstock.spark.registry.avro.spark_types import avro_type, spark_type
from penstock.spark.registry.errors import SchemaUnsupportedError

DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("boolean", "boolean"),
        ("int", "int"),
        ("long", "bigint"),
        ("float", "float"),
        ("double", "double"),
        ("bytes", "binary"),
        ("string", "string"),
        ("null", "void"),
        ({"type": "string", "logicalType": "uuid"}, "string"),
        ({"type": "int", "logicalType": "date"}, "date"),
        ({"type": "int", "logicalType": "time-millis"}, "int"),
        ({"type": "long", "logicalType": "time-micros"}, "bigint"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "timestamp"),
        ({"type": "long", "logicalType": "timestamp-micros"}, "timestamp"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, "timestamp_ntz"),
        (DECIMAL, "decimal(9,2)"),
        ({**DECIMAL, "type": "fixed", "name": "F", "size": 5}, "decimal(9,2)"),
        ({"type": "fixed", "name": "F", "size": 5}, "binary"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "string"),
        ({"type": "array", "items": ["null", "int"]}, "array<int>"),
        ({"type": "map", "values": "long"}, "map<string,bigint>"),
        (["null", "string"], "string"),
        (["null"], "void"),
        (["int", "long"], "bigint"),
        (["null", "float", "double"], "double"),
        (["int", "string", "null"], "struct<member0:int,member1:string>"),
        (
            {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]},
            "struct<a:int>",
        ),
    ],
)
def test_type_is_that_of_sparks_own_avro(schema: Any, expected: str) -> None:
    assert spark_type(parse_schema(json.dumps(schema))).simpleString() == expected


def test_decimal_of_too_many_digits_is_refused() -> None:
    with pytest.raises(SchemaUnsupportedError, match="39 digits"):
        spark_type(parse_schema(json.dumps({**DECIMAL, "precision": 39})))


def test_avro_for_a_spark_type_is_read_as_that_type() -> None:
    struct = t.StructType(
        [
            t.StructField("flag", t.BooleanType()),
            t.StructField("number", t.LongType()),
            t.StructField("small", t.IntegerType()),
            t.StructField("ratio", t.DoubleType()),
            t.StructField("half", t.FloatType()),
            t.StructField("words", t.ArrayType(t.StringType())),
            t.StructField("counts", t.MapType(t.StringType(), t.LongType())),
            t.StructField("raw", t.BinaryType()),
            t.StructField("day", t.DateType()),
            t.StructField("at", t.TimestampType()),
            t.StructField("local", t.TimestampNTZType()),
            t.StructField("price", t.DecimalType(9, 2)),
            t.StructField("inner", t.StructType([t.StructField("a", t.IntegerType())])),
            t.StructField("items", t.ArrayType(t.StructType([t.StructField("a", t.IntegerType())]))),
        ]
    )
    text = json.dumps(render(avro_type(struct, name="Order", namespace="shop")))
    assert spark_type(parse_schema(text)) == struct
    assert json.loads(text)["name"] == "shop.Order"


def test_small_numbers_are_ints() -> None:
    for small in (t.ByteType(), t.ShortType()):
        assert render(avro_type(small)) == "int"


@pytest.mark.parametrize(
    ("spark", "words"),
    [
        (t.MapType(t.IntegerType(), t.StringType()), "strings as keys, not int"),
        (t.DayTimeIntervalType(), "no Avro type for Spark's interval"),
        (t.StructType([t.StructField("a b", t.IntegerType())]), "'a b'"),
    ],
)
def test_what_avro_cannot_say_is_refused(spark: t.DataType, words: str) -> None:
    with pytest.raises(SchemaUnsupportedError, match=words):
        avro_type(spark)
