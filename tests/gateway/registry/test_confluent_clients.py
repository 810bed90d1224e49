"""Confluent's own client, serializers and deserializers, unchanged, over a real broker and a real gateway."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry._async.avro import AsyncAvroDeserializer, AsyncAvroSerializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tests.conftest import UniqueName
from tests.gateway.conftest import MakeGateway
from tests.gateway.registry.conftest import optional, record

from penstock.gateway.server import GatewayServer
from penstock.testing import Broker

FIRST = json.dumps(record("Order", "id"))
SECOND = json.dumps(record("Order", "id", optional("note")))
UNREADABLE = json.dumps(record("Order", "id", "price"))
TOKEN = "a-token-of-twenty-signs"
JSON_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["id"],
}


@pytest.fixture
def client(registry: GatewayServer) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url}) as known:
        yield known


@pytest.fixture
def round_trip(registry_broker: Broker) -> Iterator[Callable[[str, bytes, Any], tuple[bytes, Any]]]:
    """Sends a value to a topic and reads it back, with its headers."""
    producer = Producer({"bootstrap.servers": registry_broker.bootstrap_servers})
    settings = {
        "bootstrap.servers": registry_broker.bootstrap_servers,
        "group.id": "round-trips",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)

    def trip(topic: str, value: bytes, headers: Any = None) -> tuple[bytes, Any]:
        registry_broker.create_topic(topic)
        producer.produce(topic, value, headers=headers)
        assert producer.flush(10) == 0
        consumer.subscribe([topic])
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        return message.value(), message.headers()

    yield trip
    consumer.close()


def context(topic: str, headers: Any = None) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, headers)


def test_avro_of_several_versions_is_read_with_the_newest(
    client: SchemaRegistryClient, unique: UniqueName, round_trip: Callable[..., Any]
) -> None:
    topic = unique("orders")
    old = AvroSerializer(client, FIRST)({"id": "a"}, context(topic))
    new = AvroSerializer(client, SECOND)({"id": "b", "note": "x"}, context(topic))
    assert client.get_versions(f"{topic}-value") == [1, 2]
    read = AvroDeserializer(client, SECOND)
    value, _ = round_trip(topic, old)
    assert read(value, context(topic)) == {"id": "a", "note": ""}
    assert read(new, context(topic)) == {"id": "b", "note": "x"}
    with pytest.raises(SchemaRegistryError, match="price"):
        AvroSerializer(client, UNREADABLE)({"id": "c", "price": "1"}, context(topic))


def test_json_goes_round(
    client: SchemaRegistryClient, unique: UniqueName, round_trip: Callable[..., Any]
) -> None:
    topic = unique("orders")
    written = JSONSerializer(json.dumps(JSON_SCHEMA), client)({"id": "a", "amount": 2.5}, context(topic))
    value, _ = round_trip(topic, written)
    read = JSONDeserializer(None, schema_registry_client=client)
    assert read(value, context(topic)) == {"id": "a", "amount": 2.5}


def test_protobuf_with_an_import_goes_round(
    client: SchemaRegistryClient, unique: UniqueName, round_trip: Callable[..., Any]
) -> None:
    topic = unique("orders")
    kind = order_kind(unique("pkg").replace("-", "_"))
    order = kind(id="a")
    order.line.sku = "x"
    written = ProtobufSerializer(kind, client)(order, context(topic))
    value, _ = round_trip(topic, written)
    read = ProtobufDeserializer(kind, {}, client)(value, context(topic))
    assert (read.id, read.line.sku) == ("a", "x")
    (reference,) = client.get_latest_version(f"{topic}-value").schema.references
    assert client.get_latest_version(reference.subject).schema.schema_type == "PROTOBUF"


def test_guid_in_a_header_finds_the_schema(
    client: SchemaRegistryClient, unique: UniqueName, round_trip: Callable[..., Any]
) -> None:
    topic = unique("orders")
    headers: list[Any] = []
    conf = {"schema.id.serializer": header_schema_id_serializer}
    written = AvroSerializer(client, FIRST, conf=conf)({"id": "order-1"}, context(topic, headers))
    value, headers = round_trip(topic, written, headers)
    client.clear_caches()
    assert AvroDeserializer(client)(value, context(topic, headers)) == {"id": "order-1"}


def test_latest_version_is_used_when_that_is_asked_for(
    client: SchemaRegistryClient, unique: UniqueName
) -> None:
    topic = unique("orders")
    for schema in (FIRST, SECOND):
        client.register_schema(f"{topic}-value", Schema(schema, "AVRO"))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    written = AvroSerializer(client, FIRST, conf=conf)({"id": "a", "note": "n"}, context(topic))
    assert AvroDeserializer(client)(written, context(topic)) == {"id": "a", "note": "n"}
    assert int.from_bytes(written[1:5], "big") == client.get_latest_version(f"{topic}-value").schema_id


def test_unknown_schema_is_refused_when_none_may_be_registered(
    client: SchemaRegistryClient, unique: UniqueName
) -> None:
    conf = {"auto.register.schemas": False}
    with pytest.raises(SchemaRegistryError) as refused:
        AvroSerializer(client, FIRST, conf=conf)({"id": "a"}, context(unique("orders")))
    assert refused.value.error_code == 40401


def test_avro_with_references_goes_round(client: SchemaRegistryClient, unique: UniqueName) -> None:
    topic, line = unique("orders"), unique("line")
    client.register_schema(line, Schema(json.dumps(record("Line", "sku")), "AVRO"))
    text = json.dumps(record("Order", {"name": "lines", "type": {"type": "array", "items": "Line"}}))
    schema = Schema(text, "AVRO", [SchemaReference("Line", line, 1)])
    written = AvroSerializer(client, schema)({"lines": [{"sku": "x"}]}, context(topic))
    client.clear_caches()
    assert AvroDeserializer(client)(written, context(topic)) == {"lines": [{"sku": "x"}]}
    referring = client.get_referenced_by(line, 1)
    assert referring == [client.get_latest_version(f"{topic}-value").schema_id]


def test_every_call_of_the_client_is_answered(client: SchemaRegistryClient, unique: UniqueName) -> None:
    subject = unique("s")
    schema = Schema(FIRST, "AVRO")
    registered = client.register_schema_full_response(subject, schema)
    assert client.lookup_schema(subject, schema).version == 1
    assert client.get_schema(registered.schema_id, subject_name=subject).schema_str
    assert client.get_schema_by_guid(registered.guid).schema_str
    assert "AVRO" in client.get_schema_types()
    assert subject in client.get_subjects_by_schema_id(registered.schema_id)
    assert any(each.subject == subject for each in client.get_schema_versions(registered.schema_id))
    assert client.test_compatibility(subject, Schema(SECOND, "AVRO"))
    assert not client.test_compatibility_all_versions(subject, Schema(UNREADABLE, "AVRO"))
    assert client.set_compatibility(subject, "FULL") == {"compatibility": "FULL"}
    assert client.get_compatibility(subject) == "FULL"
    assert client.get_config(subject).compatibility_level == "FULL"
    assert client.delete_config(subject).compatibility_level == "FULL"
    assert client.update_mode(subject, "READONLY") == "READONLY"
    assert client.get_mode(subject) == "READONLY"
    assert client.delete_mode(subject) == "READONLY"
    assert client.get_global_mode() == "READWRITE"
    assert "." in client.get_contexts()
    assert client.delete_version(subject, 1) == 1
    assert client.delete_version(subject, 1, permanent=True) == 1


def test_asynchronous_serializers_go_round(registry: GatewayServer, unique: UniqueName) -> None:
    topic = unique("orders")

    async def go_round() -> Any:
        async with AsyncSchemaRegistryClient({"url": registry.url}) as client:
            write = await AsyncAvroSerializer(client, FIRST)
            read = await AsyncAvroDeserializer(client)
            return await read(await write({"id": "a"}, context(topic)), context(topic))

    assert asyncio.run(go_round()) == {"id": "a"}


@pytest.mark.parametrize(
    ("settings", "is_let_in"),
    [
        ({"basic.auth.user.info": f"anybody:{TOKEN}"}, True),
        ({"basic.auth.user.info": f"{TOKEN}:anybody"}, False),
        (
            {
                "bearer.auth.credentials.source": "STATIC_TOKEN",
                "bearer.auth.token": TOKEN,
                "bearer.auth.logical.cluster": "x",
                "bearer.auth.identity.pool.id": "x",
            },
            True,
        ),
        ({}, False),
    ],
)
def test_token_is_brought_as_clients_can(
    registry_broker: Broker, make_gateway: MakeGateway, settings: dict[str, str], is_let_in: bool
) -> None:
    gateway = make_gateway(registry_broker.bootstrap_servers, token=TOKEN)
    with SchemaRegistryClient({"url": gateway.url, **settings}) as client:
        if is_let_in:
            assert isinstance(client.get_subjects(), list)
        else:
            with pytest.raises(SchemaRegistryError) as refused:
                client.get_subjects()
            assert refused.value.http_status_code == 401


def order_kind(package: str) -> Any:
    """The class of messages of a file that imports another one."""
    text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    file = partial(descriptor_pb2.FileDescriptorProto, package=package, syntax="proto3")
    line = file(name=f"{package}/line.proto")
    line.message_type.add(name="Line").field.add(name="sku", number=1, type=text, label=1)
    order = file(name=f"{package}/order.proto")
    order.dependency.append(line.name)
    message = order.message_type.add(name="Order")
    message.field.add(name="id", number=1, type=text, label=1)
    message.field.add(name="line", number=2, type=11, label=1, type_name=f".{package}.Line")
    pool = descriptor_pool.Default()
    for each in (line, order):
        pool.Add(each)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.Order"))
