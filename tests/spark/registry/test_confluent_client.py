"""Confluent's client on a real registry: we read what it writes, and it reads what we write."""

import datetime
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass

from penstock.spark.registry.address import Registry
from penstock.spark.registry.decoding import DecodePlan, RecordDecoder
from penstock.spark.registry.encoding import EncodePlan, encode
from penstock.spark.registry.lookup import lookup_at
from penstock.spark.registry.protobuf.messages import message_descriptor
from penstock.spark.registry.reader_schemas import reader_schema
from penstock.spark.registry.registered import Format
from penstock.testing import Broker
from penstock.testing import Registry as RealRegistry

CONTEXT = SerializationContext("orders", MessageField.VALUE)
UTC = datetime.UTC
FIRST = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "lines", "type": {"type": "array", "items": "string"}},
    ],
}
SECOND = {
    **FIRST,
    "fields": [
        {"name": "order_id", "type": "long", "aliases": ["id"]},
        *FIRST["fields"][1:],
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
AT = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
ORDER = {"id": 7, "price": Decimal("12.34"), "at": AT, "lines": ["a", "b"]}
PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Other { string x = 1; }
message Order {
  map<string, int32> counts = 1;
  google.protobuf.Timestamp at = 2;
  message Line { string name = 1; }
  repeated Line lines = 3;
}
"""


@pytest.fixture
def registry() -> Iterator[RealRegistry]:
    """Empty, so that ids begin at 1."""
    with Broker() as broker, RealRegistry(broker) as server:
        yield server


@pytest.fixture
def client(registry: RealRegistry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url}) as known:
        yield known


def decoder(registry: RealRegistry, *, message: str | None = None) -> RecordDecoder:
    """As ``from_registry`` makes it: the reader's schema is the newest of the subject."""
    location = Registry(url=registry.url)
    lookup = lookup_at(location)
    reader = reader_schema(lookup.latest("orders-value"), lookup, message)
    return RecordDecoder(DecodePlan(location=location, reader=reader), lookup)


def encode_plan(registry: RealRegistry, **more: Any) -> EncodePlan:
    location = Registry(url=registry.url)
    latest = lookup_at(location).latest("orders-value")
    return EncodePlan(location=location, subject="orders-value", format=latest.format, schema=latest, **more)


def test_avro_of_several_schemas_is_read_as_the_newest(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    records = [
        AvroSerializer(client, json.dumps(schema))(order, CONTEXT)
        for schema, order in (
            (FIRST, ORDER),
            (SECOND, {**ORDER, "order_id": 8, "note": "x"}),
            (FIRST, {**ORDER, "id": 9}),
        )
    ]
    found = decoder(registry).decode(pa.array([*records, None]))
    same = {"price": Decimal("12.34"), "at": AT, "lines": ["a", "b"]}
    assert found.to_pylist() == [
        {"value": {"order_id": 7, **same, "note": None}, "error": None, "schema_id": 1},
        {"value": {"order_id": 8, **same, "note": "x"}, "error": None, "schema_id": 2},
        {"value": {"order_id": 9, **same, "note": None}, "error": None, "schema_id": 1},
        {"value": None, "error": None, "schema_id": None},
    ]


def test_avro_with_the_schemas_guid_in_a_header_is_read(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    context = SerializationContext("orders", MessageField.VALUE, headers=[])
    serializer = AvroSerializer(
        client, json.dumps(FIRST), conf={"schema.id.serializer": header_schema_id_serializer}
    )
    record = serializer(ORDER, context)
    [(name, header)] = context.headers
    assert name == "__value_schema_id"
    [found] = decoder(registry).decode(pa.array([record]), pa.array([header])).to_pylist()
    assert (found["value"]["id"], found["error"]) == (7, None)


def test_avro_of_schemas_that_refer_to_others_is_read(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    line = {"type": "record", "name": "shop.Line", "fields": [{"name": "name", "type": "string"}]}
    order = {
        "type": "record",
        "name": "shop.Order",
        "fields": [{"name": "lines", "type": {"type": "array", "items": "shop.Line"}}],
    }
    client.register_schema("line", Schema(json.dumps(line), "AVRO"))
    references = [SchemaReference("shop.Line", "line", 1)]
    schema = Schema(json.dumps(order), "AVRO", references)
    record = AvroSerializer(client, schema)({"lines": [{"name": "x"}]}, CONTEXT)
    [found] = decoder(registry).decode(pa.array([record])).to_pylist()
    assert found == {"value": {"lines": [{"name": "x"}]}, "error": None, "schema_id": 2}


def test_avro_that_we_write_is_read_by_the_client(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    client.register_schema("orders-value", Schema(json.dumps(FIRST), "AVRO"))
    record = AvroSerializer(client, json.dumps(FIRST))(ORDER, CONTEXT)
    values = decoder(registry).decode(pa.array([record])).field("value")
    encoded = encode(pa.concat_arrays([values, pa.nulls(1, values.type)]), encode_plan(registry))
    assert encoded.to_pylist() == [record, None]
    assert AvroDeserializer(client)(encoded[0].as_py(), CONTEXT) == ORDER


def test_avro_whose_schema_we_made_is_read_by_the_client(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    plan = EncodePlan(location=Registry(url=registry.url), subject="orders-value", format=Format.AVRO)
    column = pa.array([{"id": 1, "inner": {"words": ["a", None]}}])
    for _ in range(2):
        encoded = encode(column, plan)
    assert AvroDeserializer(client)(encoded[0].as_py(), CONTEXT) == column[0].as_py()


def proto_message() -> Any:
    message: Any = GetMessageClass(message_descriptor(PROTO, {}, "shop.Order"))()
    message.counts["a"] = 1
    message.at.FromDatetime(AT)
    message.lines.add(name="x")
    return message


@pytest.mark.parametrize("as_text", [True, False])
def test_protobuf_is_read(registry: RealRegistry, client: SchemaRegistryClient, as_text: bool) -> None:
    message = proto_message()
    conf: dict[str, Any] = {}
    if as_text:  # The server of the registry keeps text, whatever a client gives it.
        client.register_schema("orders-value", Schema(PROTO, "PROTOBUF"))
        conf = {"auto.register.schemas": False, "use.latest.version": True}
    record = ProtobufSerializer(type(message), client, conf)(message, CONTEXT)
    found = decoder(registry, message="shop.Order").decode(pa.array([record]))
    value = {"counts": [("a", 1)], "at": AT, "lines": [{"name": "x"}]}
    schema_id = int.from_bytes(record[1:5], "big")
    assert found.to_pylist() == [{"value": value, "error": None, "schema_id": schema_id}]


def test_protobuf_that_we_write_is_read_by_the_client(
    registry: RealRegistry, client: SchemaRegistryClient
) -> None:
    message = proto_message()
    ProtobufSerializer(type(message), client)(message, CONTEXT)
    column = pa.array(
        [{"counts": [("a", 1)], "at": AT, "lines": [{"name": "x"}]}],
        pa.struct(
            [
                ("counts", pa.map_(pa.string(), pa.int32())),
                ("at", pa.timestamp("us", tz="UTC")),
                ("lines", pa.list_(pa.struct([("name", pa.string())]))),
            ]
        ),
    )
    [encoded] = encode(column, encode_plan(registry, message="shop.Order")).to_pylist()
    assert ProtobufDeserializer(type(message), {}, client)(encoded, CONTEXT) == message


def test_another_message_of_the_file_is_refused(registry: RealRegistry, client: SchemaRegistryClient) -> None:
    message = proto_message()
    record = ProtobufSerializer(type(message), client)(message, CONTEXT)
    [found] = decoder(registry).decode(pa.array([record])).to_pylist()
    assert found["value"] is None
    assert found["error"].endswith("a message shop.Order, and read as shop.Other")
