"""Which DataFrames can be written, and what is said about the others."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.spark.writing.row_schema import RowSchemaError, check_row_schema

HEADER = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
VALUE = StructField("value", BinaryType())


def schema(*fields: StructField) -> StructType:
    return StructType(list(fields))


@pytest.mark.parametrize("content", [StringType(), BinaryType()])
def test_every_column_of_a_record_may_be_there(content: StringType | BinaryType) -> None:
    check_row_schema(
        schema(
            StructField("key", content),
            StructField("value", content),
            StructField("headers", ArrayType(HEADER)),
            StructField("topic", StringType()),
            StructField("partition", IntegerType()),
            StructField("timestamp", TimestampType()),
        ),
        topic=None,
    )


def test_value_and_the_option_topic_are_enough() -> None:
    check_row_schema(schema(VALUE), topic="orders")


def test_without_a_topic_it_is_said_what_to_write() -> None:
    with pytest.raises(RowSchemaError, match="give the option topic, or rows a column topic"):
        check_row_schema(schema(VALUE), topic=None)


def test_without_a_value_it_is_said_how_to_make_one() -> None:
    with pytest.raises(RowSchemaError, match=r"no column 'value'.*there are key.*to_json"):
        check_row_schema(schema(StructField("key", StringType())), topic="orders")


def test_unknown_column_is_named_with_its_type_and_what_there_is() -> None:
    with pytest.raises(RowSchemaError, match=r"'price' \(double\).*key, value, headers.*Drop it"):
        check_row_schema(schema(VALUE, StructField("price", DoubleType())), topic="orders")


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (StructField("key", LongType()), "'key' is bigint; it must be string or binary"),
        (StructField("topic", BinaryType()), "'topic' is binary; it must be string"),
        (StructField("partition", LongType()), "'partition' is bigint; it must be int"),
        (StructField("timestamp", LongType()), "'timestamp' is bigint; it must be timestamp"),
        (
            StructField("headers", ArrayType(StringType())),
            r"'headers' is array<string>; it must be array<struct",
        ),
        (StructField("headers", StringType()), r"'headers' is string; it must be array<struct"),
    ],
)
def test_wrong_type_is_named_with_the_right_one(field: StructField, said: str) -> None:
    with pytest.raises(RowSchemaError, match=said):
        check_row_schema(schema(VALUE, field), topic="orders")


def test_column_that_is_there_twice_is_named() -> None:
    with pytest.raises(RowSchemaError, match="2 columns 'value'"):
        check_row_schema(schema(VALUE, VALUE), topic="orders")
