"""Batches on their way to real brokers that fail, fall silent, hang up and die: all arrive once, in order."""

from collections.abc import Iterator
from functools import partial

import pytest
from tests.raw_kafka import BatchFields, Record, build_batch
from tests.wire_client.reading import read_values

from penstock.model.ids import TopicPartition
from penstock.testing import Broker
from penstock.testing import Cluster as BrokerCluster
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.delivery import Delivery
from penstock.wire_client.delivery.failure import DeliveryError
from penstock.wire_client.delivery.settings import DeliverySettings
from penstock.wire_client.producers import ProducerIdentity, new_producer

SETTINGS = DeliverySettings(pause_ms=5, pause_ms_max=50, delivery_timeout_ms=20_000)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture(autouse=True)
def _no_faults(broker: Broker) -> Iterator[None]:
    yield
    broker.faults.clear()


def connect(bootstrap: str, *, answer_seconds_max: float = 5.0) -> Cluster:
    addresses = [
        Address(host, int(port)) for host, port in (each.split(":") for each in bootstrap.split(","))
    ]
    return Cluster.connect(addresses, connect=partial(Connection, answer_seconds_max=answer_seconds_max))


def batches(producer: ProducerIdentity, topic: str, *, count: int, partitions: int = 1) -> Iterator[Batch]:
    """Ten records each, numbered throughout."""
    for number in range(count):
        partition, place = number % partitions, number // partitions
        fields = BatchFields(
            producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, base_sequence=place * 10
        )
        records = [Record(value=b"%d" % (number * 10 + index)) for index in range(10)]
        data = build_batch(records, fields)
        yield Batch(partition=TopicPartition(topic, partition), data=data, record_count=10)


def expected(*, count: int, partitions: int = 1) -> list[list[bytes]]:
    return [
        [
            b"%d" % (number * 10 + index)
            for number in range(partition, count, partitions)
            for index in range(10)
        ]
        for partition in range(partitions)
    ]


def deliver(cluster: Cluster, topic: str, *, count: int, partitions: int = 1) -> None:
    delivery = Delivery(cluster, SETTINGS)
    for batch in batches(new_producer(cluster), topic, count=count, partitions=partitions):
        delivery.send(batch)
    delivery.flush()


def test_batches_arrive_in_order(broker: Broker) -> None:
    topic = broker.create_topic(partitions=3)

    with connect(broker.bootstrap_servers) as cluster:
        deliver(cluster, topic, count=60, partitions=3)
        assert read_values(broker.bootstrap_servers, topic) == expected(count=60, partitions=3)


@pytest.mark.parametrize("when", ["before", "after"])
def test_batches_whose_connection_breaks_arrive_once(broker: Broker, when: str) -> None:
    topic = broker.create_topic()
    fault = broker.faults.drop("Produce", when="after" if when == "after" else "before", times=3)

    with connect(broker.bootstrap_servers) as cluster:
        deliver(cluster, topic, count=20)
        assert fault.hits == 3
        assert read_values(broker.bootstrap_servers, topic) == expected(count=20)


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"])
def test_batches_that_a_broker_refuses_for_a_while_arrive_once(broker: Broker, error: str) -> None:
    topic = broker.create_topic(partitions=2)
    fault = broker.faults.fail("Produce", error=error, times=3)

    with connect(broker.bootstrap_servers) as cluster:
        deliver(cluster, topic, count=20, partitions=2)
        assert fault.hits == 3
        assert read_values(broker.bootstrap_servers, topic) == expected(count=20, partitions=2)


def test_batches_whose_answer_comes_too_late_arrive_once(broker: Broker) -> None:
    topic = broker.create_topic()
    broker.faults.delay("Produce", seconds=1.5, times=1)

    with connect(broker.bootstrap_servers, answer_seconds_max=0.5) as cluster:
        deliver(cluster, topic, count=8)
        assert read_values(broker.bootstrap_servers, topic) == expected(count=8)


def test_batch_that_is_never_taken_is_given_up_by_name(broker: Broker) -> None:
    topic = broker.create_topic()
    broker.faults.fail("Produce", error="NOT_ENOUGH_REPLICAS")
    settings = DeliverySettings(pause_ms=5, pause_ms_max=20, delivery_timeout_ms=300)

    with connect(broker.bootstrap_servers) as cluster:
        delivery = Delivery(cluster, settings)
        for batch in batches(new_producer(cluster), topic, count=1):
            delivery.send(batch)
        with pytest.raises(DeliveryError, match=f"topic '{topic}', partition 0: .*NOT_ENOUGH_REPLICAS"):
            delivery.flush()


def test_whoever_brings_more_than_the_buffer_holds_waits(broker: Broker) -> None:
    topic = broker.create_topic()
    settings = DeliverySettings(buffer_bytes_max=500)

    with connect(broker.bootstrap_servers) as cluster:
        delivery = Delivery(cluster, settings)
        for batch in batches(new_producer(cluster), topic, count=30):
            delivery.send(batch)
        assert sum(map(len, read_values(broker.bootstrap_servers, topic))) >= 200, (
            "most had to be acknowledged by now"
        )
        delivery.flush()
        assert read_values(broker.bootstrap_servers, topic) == expected(count=30)


@pytest.mark.slow
def test_batches_arrive_once_while_the_leader_is_killed() -> None:
    with BrokerCluster(3) as brokers:
        topic = brokers.create_topic(partitions=2, replication_factor=3, min_insync_replicas=2)
        with connect(brokers.bootstrap_servers) as cluster:
            delivery = Delivery(cluster, SETTINGS)
            for number, batch in enumerate(batches(new_producer(cluster), topic, count=40, partitions=2)):
                if number == 20:
                    brokers.kill(brokers.leader(topic, 0).node_id)
                delivery.send(batch)
            delivery.flush()
            assert read_values(brokers.bootstrap_servers, topic) == expected(count=40, partitions=2)
