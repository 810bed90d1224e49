"""Payloads that other people's serializers wrote, read by the gateway; and the other way round."""

import base64
import datetime
import decimal
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.timestamp_pb2 import Timestamp
from tests.conftest import UniqueName
from tests.gateway.console.asking import get

from penstock.client import Producer
from penstock.gateway.server import GatewayServer

pytestmark = pytest.mark.slow

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "raw", "type": ["null", "bytes"], "default": None},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN", "SHIPPED"]}},
    ],
}
PLAIN = {
    "id": 2**60,
    "price": "12.50",
    "at": "2026-01-02T03:04:05+00:00",
    "raw": "0x00ff",
    "state": "SHIPPED",
}


@pytest.fixture(scope="module")
def registry(gateway: GatewayServer) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": gateway.url}) as client:
        yield client


Shown = Callable[[str, bytes], dict[str, Any]]


@pytest.fixture
def shown(gateway: GatewayServer, bootstrap: str) -> Shown:
    """Sends a value to a topic, and tells how the console shows it."""

    def show(topic: str, value: bytes) -> dict[str, Any]:
        with Producer(bootstrap_servers=bootstrap) as producer:
            stored = producer.send(topic, value).result(10)
        told = get(gateway.url, f"messages/{topic}/{stored.partition}/{stored.offset}")
        return dict(told["value"])

    return show


def encoded(gateway: GatewayServer, subject: str, document: Any) -> Any:
    url = f"{gateway.url}/console/api/messages/{subject}/encode"
    return httpx2.post(url, json={"subject": subject, "document": document})


def value_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_avro_is_shown_as_plain_values(
    registry: SchemaRegistryClient, shown: Shown, unique: UniqueName
) -> None:
    topic = unique("avro")
    order = {
        "id": 2**60,
        "price": decimal.Decimal("12.50"),
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        "raw": b"\x00\xff",
        "state": "SHIPPED",
    }
    told = shown(topic, AvroSerializer(registry, json.dumps(ORDER))(order, value_of(topic)))
    assert told["kind"] == "avro"
    assert json.loads(told["text"]) == PLAIN
    assert told["schema_id"] == registry.get_latest_version(f"{topic}-value").schema_id


def test_protobuf_is_shown_with_numbers_as_numbers(
    registry: SchemaRegistryClient, shown: Shown, unique: UniqueName
) -> None:
    topic = unique("protobuf")
    serialize = ProtobufSerializer(Timestamp, registry, {"use.deprecated.format": False})
    told = shown(topic, serialize(Timestamp(seconds=1_700_000_000), value_of(topic)))
    assert told["kind"] == "protobuf"
    assert json.loads(told["text"]) == "2023-11-14T22:13:20Z"


def test_json_with_a_schema_is_shown_without_its_frame(
    registry: SchemaRegistryClient, shown: Shown, unique: UniqueName
) -> None:
    topic = unique("json")
    schema = {"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}
    told = shown(topic, JSONSerializer(json.dumps(schema), registry)({"id": 7}, value_of(topic)))
    assert told["kind"] == "json_schema"
    assert json.loads(told["text"]) == {"id": 7}


def test_what_does_not_decode_says_why_and_shows_its_bytes(
    registry: SchemaRegistryClient, shown: Shown, unique: UniqueName
) -> None:
    topic = unique("broken")
    good = AvroSerializer(registry, '{"type": "string"}')("hello", value_of(topic))
    cut = shown(topic, good[:-2])
    unknown = shown(topic, b"\x00\x7f\xff\xff\xffabc")
    assert cut["kind"] == unknown["kind"] == "binary"
    assert "does not fit these bytes" in cut["problem"]
    assert "no schema 2147483647" in unknown["problem"]
    assert base64.b64decode(unknown["base64"]) == b"\x00\x7f\xff\xff\xffabc"


def test_a_search_looks_into_what_schemas_of_several_kinds_wrote(
    gateway: GatewayServer, registry: SchemaRegistryClient, shown: Shown, unique: UniqueName
) -> None:
    topic = unique("mixed")
    shown(topic, AvroSerializer(registry, '{"type": "string"}')("needle", value_of(topic)))
    shown(topic, b'{"n": 1}')
    shown(topic, b"\x00\x7f\xff\xff\xffneedle")
    with httpx2.stream(
        "GET", f"{gateway.url}/console/api/messages/{topic}/search", params={"filter": "NEEDLE"}
    ) as answer:
        text = answer.read().decode()
    assert '"matched": 2' in text


@pytest.mark.parametrize("schema", [ORDER, [ORDER, "null"]], ids=["record", "union"])
def test_a_document_is_written_as_deserializers_read_it(
    gateway: GatewayServer, registry: SchemaRegistryClient, unique: UniqueName, schema: Any
) -> None:
    subject = unique("written")
    httpx2.post(f"{gateway.url}/subjects/{subject}/versions", json={"schema": json.dumps(schema)})
    answer = encoded(gateway, subject, PLAIN)
    payload = base64.b64decode(answer.json()["base64"])
    read = AvroDeserializer(registry)(payload, value_of(subject))
    assert isinstance(read, dict)
    assert read["price"] == decimal.Decimal("12.50")
    assert read["at"] == datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    assert read["raw"] == b"\x00\xff"


@pytest.mark.parametrize(
    ("document", "said"), [({"id": "x"}, "does not fit version 1"), ({}, "does not fit version 1")]
)
def test_a_document_that_does_not_fit_is_refused_with_the_reason(
    gateway: GatewayServer, unique: UniqueName, document: Any, said: str
) -> None:
    subject = unique("refused")
    httpx2.post(f"{gateway.url}/subjects/{subject}/versions", json={"schema": json.dumps(ORDER)})
    answer = httpx2.post(
        f"{gateway.url}/console/api/messages/{subject}/encode",
        json={"subject": subject, "document": document},
    )
    assert answer.status_code == 422
    assert said in answer.json()["message"]


def test_a_protobuf_document_is_written_and_shown_alike(
    gateway: GatewayServer, shown: Shown, unique: UniqueName
) -> None:
    subject = unique("proto")
    text = """syntax = "proto3"; package shop;
        message Order { int64 id = 1; repeated string tags = 2; map<string, int32> counts = 3;
          bytes raw = 4; State state = 5; optional double price = 6; Part part = 7;
          enum State { OPEN = 0; SHIPPED = 1; } message Part { string sku = 1; } }"""
    httpx2.post(
        f"{gateway.url}/subjects/{subject}/versions", json={"schema": text, "schemaType": "PROTOBUF"}
    ).raise_for_status()
    document = {"id": 2**60, "tags": ["a"], "counts": {"x": 3}, "state": "SHIPPED", "part": {"sku": "A-1"}}
    answer = httpx2.post(
        f"{gateway.url}/console/api/messages/{subject}/encode",
        json={"subject": subject, "document": document},
    )
    told = shown(subject, base64.b64decode(answer.json()["base64"]))
    assert json.loads(told["text"]) == {**document, "raw": "0x"}
