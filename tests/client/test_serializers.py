"""From objects to bytes and back."""

from typing import Any

import pytest
from tests.client.reading import read_all

from penstock import Producer
from penstock.client.errors import SerializationError


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("bytes", b"\x00\xff", b"\x00\xff"),
        ("bytes", "ünï", "ünï".encode()),
        ("bytes", bytearray(b"abc"), b"abc"),
        ("str", 42, b"42"),
        ("json", {"valves": [3, None], "ü": True}, '{"valves":[3,null],"ü":true}'.encode()),
    ],
)
def test_named_serializer_stores(broker: str, topic: str, name: str, value: Any, stored: bytes) -> None:
    with Producer(bootstrap_servers=broker, value_serializer=name, key_serializer=name) as producer:
        producer.send(topic, value, key=value).result(20)
        producer.send(topic, None).result(20)
    first, second = read_all(broker, topic, 2)
    assert (first.value, first.key) == (stored, stored)
    assert (second.value, second.key) == (None, None)


def test_json_comes_back_as_it_was(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, value_serializer="json", key_serializer="str") as producer:
        producer.send(topic, {"valves": 3}, key="A").result(20)
    (message,) = read_all(broker, topic, 1, value_deserializer="json", key_deserializer="str")
    assert (message.key, message.value) == ("A", {"valves": 3})
    assert (message.raw_key, message.raw_value) == (b"A", b'{"valves":3}')


def test_functions_of_the_callers_are_used(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, value_serializer=lambda number: bytes([number])) as producer:
        producer.send(topic, 7).result(20)
    (message,) = read_all(broker, topic, 1, value_deserializer=lambda data: data[0] + 1)
    assert message.value == 8


@pytest.mark.parametrize(
    ("settings", "value", "words"),
    [
        ({}, 3.5, "3.5 is float, not bytes or text"),
        ({"value_serializer": "json"}, {1, 2}, "The value_serializer failed"),
        ({"value_serializer": lambda value: value}, 3, "made int, not bytes"),
    ],
)
def test_value_that_cannot_be_serialized_is_refused_at_once(
    broker: str, topic: str, settings: Any, value: Any, words: str
) -> None:
    with Producer(bootstrap_servers=broker, **settings) as producer:
        with pytest.raises(SerializationError, match=words):
            producer.send(topic, value)
        assert producer.metrics().records_sent == 0


def test_message_that_cannot_be_deserialized_says_which_and_can_be_skipped(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        producer.send_batch([(topic, b"{"), (topic, b"{}")])
    poison, good = read_all(broker, topic, 2, value_deserializer="json")
    with pytest.raises(SerializationError, match=f"{topic}-0 at offset 0"):
        _ = poison.value
    assert poison.raw_value == b"{"
    assert good.value == {}
