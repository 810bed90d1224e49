"""The table of a topic, as Spark's own types have it."""

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import types as spark_types
from pyspark.sql.pandas.types import to_arrow_schema

from penstock.model.errors import UsageError
from penstock.spark.columns.schema import (
    COLUMNS,
    COLUMNS_WITHOUT_HEADERS,
    SPARK_SCHEMA,
    SPARK_SCHEMA_WITH_HEADERS,
    arrow_schema,
    arrow_type,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEADER = spark_types.StructType(
    [
        spark_types.StructField("key", spark_types.StringType()),
        spark_types.StructField("value", spark_types.BinaryType()),
    ]
)
CONNECTOR = spark_types.StructType(
    [
        spark_types.StructField("key", spark_types.BinaryType()),
        spark_types.StructField("value", spark_types.BinaryType()),
        spark_types.StructField("topic", spark_types.StringType()),
        spark_types.StructField("partition", spark_types.IntegerType()),
        spark_types.StructField("offset", spark_types.LongType()),
        spark_types.StructField("timestamp", spark_types.TimestampType()),
        spark_types.StructField("timestampType", spark_types.IntegerType()),
    ]
)
"""What Spark's Kafka connector says of its table; ``headers`` come behind it when they are asked for."""

CONNECTOR_WITH_HEADERS = spark_types.StructType(
    [*CONNECTOR.fields, spark_types.StructField("headers", spark_types.ArrayType(HEADER))]
)


@pytest.mark.parametrize(
    ("connector", "columns"), [(CONNECTOR, COLUMNS_WITHOUT_HEADERS), (CONNECTOR_WITH_HEADERS, COLUMNS)]
)
def test_arrow_types_are_exactly_those_that_spark_wants(
    connector: spark_types.StructType, columns: tuple[str, ...]
) -> None:
    wanted = to_arrow_schema(connector, timezone="UTC")
    assert arrow_schema(columns).equals(wanted, check_metadata=True)
    assert [str(arrow_type(field.name)) for field in wanted] == [str(field.type) for field in wanted]


@pytest.mark.spark
def test_ddl_is_the_connectors_schema(spark: "SparkSession") -> None:
    assert spark_types.StructType.fromDDL(SPARK_SCHEMA) == CONNECTOR
    assert spark_types.StructType.fromDDL(SPARK_SCHEMA_WITH_HEADERS) == CONNECTOR_WITH_HEADERS
    assert spark.createDataFrame([], SPARK_SCHEMA).schema == CONNECTOR


def test_unknown_column_is_named() -> None:
    with pytest.raises(UsageError, match="no column 'Key', it has key, value, topic"):
        arrow_type("Key")
