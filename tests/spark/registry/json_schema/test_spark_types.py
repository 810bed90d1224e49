"""JSON Schemas as Spark's types and back."""

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator
from pyspark.sql import types as t

from penstock.model.errors import UsageError
from penstock.spark.registry.json_schema.spark_types import json_schema, spark_type

NUMBERED = {"type": "object", "properties": {"n": {"type": "integer"}}}


def type_name(schema: Any, references: dict[str, Any] | None = None) -> str:
    texts = {name: json.dumps(text) for name, text in (references or {}).items()}
    return spark_type(json.dumps(schema), texts).simpleString()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "boolean"}, "boolean"),
        ({"type": "integer"}, "bigint"),
        ({"type": "number"}, "double"),
        ({"type": "string"}, "string"),
        ({"type": "null"}, "string"),
        ({"type": ["null", "integer"]}, "bigint"),
        ({"type": ["integer", "number"]}, "double"),
        ({"type": ["integer", "string"]}, "string"),
        ({"type": "string", "format": "date-time"}, "timestamp"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "email"}, "string"),
        ({"type": "string", "contentEncoding": "base64"}, "binary"),
        ({"type": "integer", "connect.type": "int32"}, "int"),
        ({"type": "number", "connect.type": "float32"}, "float"),
        ({"type": "string", "connect.type": "bytes"}, "binary"),
        ({"enum": ["a", None]}, "string"),
        ({"const": "a"}, "string"),
        ({"const": 5}, "string"),
        ({}, "string"),
        (True, "string"),
        (NUMBERED, "struct<n:bigint>"),
        ({"properties": {"n": {"type": "integer"}}}, "struct<n:bigint>"),
        ({"type": "object"}, "string"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "map<string,double>"),
        ({"type": "object", "additionalProperties": False}, "string"),
        ({"type": "array", "items": NUMBERED}, "array<struct<n:bigint>>"),
        ({"type": "array"}, "array<string>"),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "bigint"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string"),
        ({"oneOf": []}, "string"),
        (
            {"allOf": [NUMBERED], "properties": {"m": {"type": "string"}}},
            "struct<n:bigint,m:string>",
        ),
        ({"allOf": [{"minimum": 1}, {"type": "integer"}]}, "bigint"),
        ({"allOf": [{"minimum": 1}]}, "string"),
    ],
)
def test_schema_has_its_type(schema: Any, expected: str) -> None:
    assert type_name(schema) == expected


def test_references_lead_within_and_into_other_documents() -> None:
    schema = {
        "definitions": {"a/b": NUMBERED},
        "type": "object",
        "properties": {
            "here": {"$ref": "#/definitions/a~1b"},
            "there": {"$ref": "other.json"},
            "inside": {"$ref": "other.json#/$defs/list"},
            "by_id": {"$ref": "http://x/other#/$defs/list/items"},
        },
    }
    other = {
        "$id": "http://x/other",
        "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/item"}}, "item": NUMBERED},
        "type": "string",
    }
    assert type_name(schema, {"other.json": other}) == (
        "struct<here:struct<n:bigint>,there:string,inside:array<struct<n:bigint>>,by_id:struct<n:bigint>>"
    )


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "array", "items": {"$ref": "#"}}, "'#' contains itself"),
        (
            {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}}},
            "contains itself",
        ),
        ({"$ref": "#/nowhere"}, "nothing at '#/nowhere'"),
        ({"$ref": "none.json"}, "refers to 'none.json', none of its references: none"),
    ],
)
def test_schema_that_leads_nowhere_or_in_circles_is_refused(schema: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        type_name(schema)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(UsageError, match="not the JSON of a JSON Schema"):
        spark_type("message M {}")


def test_schema_for_a_spark_type_is_read_as_that_type() -> None:
    struct = t.StructType(
        [
            t.StructField("flag", t.BooleanType()),
            t.StructField("number", t.LongType()),
            t.StructField("ratio", t.DoubleType()),
            t.StructField("word", t.StringType()),
            t.StructField("raw", t.BinaryType()),
            t.StructField("day", t.DateType()),
            t.StructField("at", t.TimestampType()),
            t.StructField("words", t.ArrayType(t.StringType())),
            t.StructField("inner", t.StructType([t.StructField("x", t.LongType())])),
            t.StructField("counts", t.MapType(t.StringType(), t.LongType())),
        ]
    )
    text = json_schema(struct, title="orders-value")
    assert spark_type(text) == struct
    Draft7Validator.check_schema(json.loads(text))
    Draft7Validator(json.loads(text)).validate({"words": ["a", None], "counts": {"a": None}})


def test_numbers_of_all_widths_are_numbers() -> None:
    for whole in (t.ByteType(), t.ShortType(), t.IntegerType()):
        assert json.loads(json_schema(whole))["type"] == "integer"
    for number in (t.FloatType(), t.DecimalType(5, 2)):
        assert json.loads(json_schema(number))["type"] == "number"
    with pytest.raises(UsageError, match="no type for Spark's interval"):
        json_schema(t.DayTimeIntervalType())
