"""In a cluster every series is told once, whoever leads, coordinates and holds what."""

from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.broker.metrics.scraping import Page, page_of
from tests.broker_process import wait_until

from penstock.broker.metrics.metric import Teller
from penstock.broker.metrics.table import METRICS
from penstock.testing import Broker, Cluster

PARTITIONS = 6
GROUP = "watchers"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as three:
        yield three


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> str:
    """Without replicas, so that a coordinator has to ask others about most of it."""
    name = cluster.create_topic(partitions=PARTITIONS, replication_factor=1)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for partition in range(PARTITIONS):
        for number in range(10 + partition):
            producer.produce(name, str(number).encode(), partition=partition)
    assert producer.flush(20) == 0
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(name, each, 4) for each in range(PARTITIONS)], asynchronous=False)
    consumer.close()
    return name


def pages(cluster: Cluster) -> list[Page]:
    return [page_of(broker) for broker in cluster.running()]


def test_what_is_not_of_a_broker_itself_is_told_by_one(cluster: Cluster, topic: str) -> None:
    told = Counter(series for page in pages(cluster) for series in page.samples)
    shared = {name for name, metric in METRICS.items() if metric.teller is not Teller.EVERY}
    # Two groups in one state have two coordinators, who count both; all else names what it is about.
    twice = [each for each, count in told.items() if each[0] in shared and count > 1]
    assert not [each for each in twice if each[0] != "penstock_consumergroups"]


def test_every_partition_is_told_wherever_it_is(cluster: Cluster, topic: str) -> None:
    found = pages(cluster)
    offsets = [page.sum("kafka_topic_partition_current_offset", topic=topic) for page in found]
    assert sum(offsets) == sum(10 + partition for partition in range(PARTITIONS))
    assert sum(page.sum("kafka_brokers") for page in found) == 3
    wait_until(lambda: have_one_controller(cluster), what="one controller, of whom all know")


def have_one_controller(cluster: Cluster) -> bool:
    """A busy machine may just be electing another."""
    found = pages(cluster)
    leaders = {page.sum("penstock_raft_leader") for page in found}
    active = sum(page.sum("penstock_active_controller") for page in found)
    return active == 1 and leaders == {float(cluster.controller().node_id)}


def coordinator(cluster: Cluster) -> Broker:
    """Who tells the group."""
    (found,) = [
        broker
        for broker in cluster.running()
        if page_of(broker).value("kafka_consumergroup_members", consumergroup=GROUP) is not None
    ]
    return found


def test_coordinator_tells_the_lag_of_partitions_that_others_hold(cluster: Cluster, topic: str) -> None:
    page = page_of(coordinator(cluster))
    for partition in range(PARTITIONS):
        place = {"consumergroup": GROUP, "topic": topic, "partition": partition}
        assert page.value("kafka_consumergroup_lag", **place) == 6 + partition
        assert 0 < page.sum("penstock_consumergroup_lag_seconds", **place) < 60
    asked = [
        each.sum("penstock_request_duration_seconds_count", api="OffsetTimes") for each in pages(cluster)
    ]
    assert sum(each > 0 for each in asked) == 2


def test_lag_that_nobody_tells_is_left_out(cluster: Cluster, topic: str) -> None:
    subject = coordinator(cluster)
    here = page_of(subject).labels_of("kafka_topic_partition_current_offset", topic=topic)
    others = [broker.node_id for broker in cluster.running() if broker is not subject]
    cluster.partition([subject.node_id], others)
    try:
        page = page_of(subject)
    finally:
        cluster.heal()
        cluster.wait_whole()
    assert len(page.labels_of("kafka_consumergroup_current_offset", topic=topic)) == PARTITIONS
    assert len(page.labels_of("kafka_consumergroup_lag", topic=topic)) == len(here) < PARTITIONS


def test_dead_brokers_partitions_are_told_by_the_controller(cluster: Cluster, topic: str) -> None:
    controller = cluster.controller()
    dead = next(broker for broker in cluster.running() if broker is not controller)
    led = page_of(dead).sum("penstock_led_partitions")
    assert led
    cluster.kill(dead.node_id)
    try:
        wait_until(
            lambda: page_of(cluster.controller()).sum("penstock_offline_partitions") > 0, what="fenced"
        )
        page = page_of(cluster.controller())
        assert page.sum("kafka_brokers") == 2
        offline = [
            labels
            for (name, labels), value in page.samples.items()
            if name == "kafka_topic_partition_leader" and value == -1
        ]
        assert len(offline) == page.value("penstock_offline_partitions")
        assert page.sum("kafka_topic_partition_under_replicated_partition", topic="__consumer_offsets") > 0
    finally:
        cluster.restart(dead.node_id)
