"""A column into tagged records: which schema is made for a type, and when it is registered."""

import json

import pyarrow as pa
import pytest
from pyspark.sql import types as t
from tests.spark.registry.stand_in import StandIn

from penstock.spark.registry.address import Registry
from penstock.spark.registry.encoding import EncodePlan, encode, prefixes, schema_for
from penstock.spark.registry.errors import SchemaRefusedError
from penstock.spark.registry.registered import Format
from penstock.spark.registry.schema_files import read_schemas
from penstock.spark.registry.wire_format import build_prefix

NESTED = """
syntax = "proto3";
message Order { map<string, string> tags = 1; message Line { int32 n = 1; } }
"""
STRUCT = t.StructType([t.StructField("n", t.LongType())])


@pytest.mark.parametrize(
    ("subject", "avro", "proto"),
    [
        ("orders-value", "orders_value", "OrdersValue"),
        ("2026.orders-key", "_2026_orders_key", "_2026OrdersKey"),
        ("-", "value", "Value"),
    ],
)
def test_names_in_a_made_schema_come_from_the_subject(subject: str, avro: str, proto: str) -> None:
    assert json.loads(schema_for(STRUCT, subject, Format.AVRO).text)["name"] == avro
    assert f"message {proto} {{" in schema_for(STRUCT, subject, Format.PROTOBUF).text
    assert json.loads(schema_for(STRUCT, subject, Format.JSON).text)["title"] == subject


def test_each_type_is_registered_once(registry: StandIn) -> None:
    plan = EncodePlan(location=Registry(url=registry.url), subject="orders-value", format=Format.JSON)
    narrow, wide = pa.array([{"n": 1}] * 2), pa.array([{"n": 1, "m": "x"}])
    for _ in range(2):
        assert prefixes(narrow, plan).to_pylist() == [build_prefix(1)] * 2
        assert prefixes(wide, plan).to_pylist() == [build_prefix(2)]
    assert registry.requests == ["POST /subjects/orders-value/versions"] * 2


def test_nested_message_is_counted_as_in_the_text() -> None:
    location = read_schemas({7: {"schema": NESTED, "schemaType": "PROTOBUF", "subject": "s"}})
    plan = EncodePlan(
        location=location,
        subject="s",
        format=Format.PROTOBUF,
        schema=location.schemas[0],
        message="Order.Line",
    )
    assert encode(pa.array([{"n": 5}]), plan).to_pylist() == [build_prefix(7, [0, 0]) + b"\x08\x05"]


def test_files_take_no_new_schema() -> None:
    plan = EncodePlan(location=read_schemas({}), subject="s", format=Format.AVRO)
    with pytest.raises(SchemaRefusedError, match="only read"):
        encode(pa.array([{"n": 5}]), plan)
