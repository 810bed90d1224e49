"""Sizes of partitions, asked of the brokers that lead them."""

from confluent_kafka import Producer

from penstock.model.ids import TopicPartition
from penstock.testing import Broker
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import find_leaders


def connect(broker: Broker) -> Cluster:
    host, _, port = broker.bootstrap_servers.partition(":")
    return Cluster.connect([Address(host, int(port))])


def test_sizes_are_those_of_what_was_written(penstock_broker: Broker) -> None:
    topic = penstock_broker.create_topic(partitions=2)
    producer = Producer({"bootstrap.servers": penstock_broker.bootstrap_servers})
    producer.produce(topic, value=bytes(5_000), partition=1)
    producer.flush(30)

    with connect(penstock_broker) as cluster:
        sizes = partition_bytes(cluster, find_leaders(cluster, [topic]))

    assert sizes[TopicPartition(topic, 0)] == 0
    assert 5_000 < sizes[TopicPartition(topic, 1)] < 5_200


def test_broker_that_does_not_answer_is_left_out(penstock_broker: Broker) -> None:
    topic = penstock_broker.create_topic()
    penstock_broker.faults.drop("DescribeLogDirs", times=1)

    with connect(penstock_broker) as cluster:
        assert partition_bytes(cluster, find_leaders(cluster, [topic])) == {}
