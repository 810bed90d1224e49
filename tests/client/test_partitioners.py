"""Which partition a record goes to."""

from collections import Counter

import pytest
from tests.client.conftest import MakeTopic

from penstock import Partitioner, Producer
from penstock.client.errors import ConfigurationError
from penstock.client.partitioners import Modulo, RoundRobin


def murmur2(data: bytes) -> int:
    """As it was published, 32 bits, with the seed of Kafka's Java client."""
    mask, multiplier = 0xFFFFFFFF, 0x5BD1E995
    value = 0x9747B28C ^ len(data)
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * multiplier & mask
        word = (word ^ word >> 24) * multiplier & mask
        value = (value * multiplier & mask) ^ word
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return value ^ value >> 15


def test_keys_go_where_the_java_client_sends_them(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(10)
    keys = [b"21", b"foobar", b"abc", b"order-1", b"penstock", *(b"%d" % number for number in range(50))]
    with Producer(bootstrap_servers=broker) as producer:
        deliveries = [producer.send(topic, b"", key=key) for key in keys]
        found = [delivery.result(20).partition for delivery in deliveries]
    assert found == [(murmur2(key) & 0x7FFFFFFF) % 10 for key in keys]


def test_records_without_a_key_stick_to_a_partition_for_a_batch(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(10)
    lasting = {"sticky.partitioning.linger.ms": 5000}
    with Producer(bootstrap_servers=broker, linger_ms=200, kafka=lasting) as producer:
        producer.send(topic, b"x").result(20)  # Only partitions of a broker that is connected are stuck to.
        deliveries = [producer.send(topic, b"x") for _ in range(100)]
        found = Counter(delivery.result(20).partition for delivery in deliveries)
    assert len(found) == 1


def test_modulo_takes_numbers_as_they_are() -> None:
    choose = Modulo()
    assert [choose("t", b"%d" % number, 4) for number in (0, 5, 7, 12)] == [0, 1, 3, 0]
    assert choose("t", b"word", 4) == choose("t", b"word", 4)
    assert [choose("t", None, 3) for _ in range(4)] == [0, 1, 2, 0]


def test_round_robin_goes_round_per_topic() -> None:
    choose = RoundRobin()
    assert [choose("a", b"k", 2), choose("b", b"k", 2), choose("a", b"k", 2)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("partitioner", "expected"),
    [
        (Partitioner.ROUND_ROBIN, [0, 1, 2, 0, 1, 2]),
        (Partitioner.MODULO, [1, 1, 1, 1, 1, 1]),
        (lambda topic, key, count: count - 1, [2, 2, 2, 2, 2, 2]),
    ],
)
def test_producer_asks_its_partitioner(
    broker: str, make_topic: MakeTopic, partitioner: Partitioner, expected: list[int]
) -> None:
    topic = make_topic(3)
    with Producer(bootstrap_servers=broker, partitioner=partitioner) as producer:
        deliveries = [producer.send(topic, b"x", key=b"4") for _ in expected]
        assert [delivery.result(20).partition for delivery in deliveries] == expected
        assert producer.send(topic, b"x", partition=0).result(20).partition == 0


@pytest.mark.parametrize("chosen", [-1, 3, "1", None])
def test_partitioner_that_chooses_what_is_not_there_is_refused(
    broker: str, make_topic: MakeTopic, chosen: object
) -> None:
    topic = make_topic(3)
    with (
        Producer(bootstrap_servers=broker, partitioner=lambda *_: chosen) as producer,  # type: ignore[arg-type]
        pytest.raises(ConfigurationError, match="from 0 to 2"),
    ):
        producer.send(topic, b"x")


@pytest.mark.parametrize("error", [BufferError("mine"), RuntimeError("the file is closed")], ids=repr)
def test_partitioner_that_fails_is_named(broker: str, topic: str, error: Exception) -> None:
    def fail(topic: str, key: bytes | None, partition_count: int) -> int:
        raise error

    with Producer(bootstrap_servers=broker, partitioner=fail) as producer:
        with pytest.raises(ConfigurationError, match=r"The partitioner failed .*Error") as caught:
            producer.send(topic, b"x")
        assert caught.value.__cause__ is error
