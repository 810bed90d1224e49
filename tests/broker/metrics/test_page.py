"""Everything in the table is told by a broker with traffic, and nothing else is."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from tests.broker.metrics.scraping import Page, page_of, parse

from penstock.bench.connection import Connection, parse_address
from penstock.broker.broker import Broker as InnerBroker
from penstock.broker.metrics.loop_lag import LoopLag
from penstock.broker.metrics.metric import Family, Metric, MetricKind
from penstock.broker.metrics.page import MetricsPage
from penstock.broker.metrics.table import METRICS
from penstock.model.error_codes import ErrorCode
from penstock.testing import Broker
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

GROUP = 'group "with" \\ signs'
MESSAGES = 50
READ = 20


def client(broker: Broker) -> dict[str, str | bool]:
    """Of clients that bring no metrics of their own to the page."""
    return {"bootstrap.servers": broker.bootstrap_servers, "enable.metrics.push": False}


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture(scope="module")
def topic(broker: Broker) -> Iterator[str]:
    """A topic with messages, of which a group has read some."""
    name = broker.create_topic("orders", partitions=2)
    producer = Producer(client(broker))
    for number in range(MESSAGES):
        producer.produce(name, f"value {number}".encode(), partition=0)
    producer.flush()
    consumer = Consumer(
        {
            **client(broker),
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([name])
    messages = consumer.consume(READ, timeout=20)
    assert len(messages) == READ
    consumer.commit(messages[-1], asynchronous=False)
    with Connection(parse_address(broker.bootstrap_servers)) as connection:
        unknown = DeleteTopicsRequest(topics=(DeleteTopicState(name="never-was"),), timeout_ms=1000)
        connection.call(ApiKey.DELETE_TOPICS, unknown)
    yield name
    consumer.close()


@pytest.fixture(scope="module")
def page(broker: Broker, topic: str) -> Page:
    async def write(inner: InnerBroker) -> bytes:
        subject = MetricsPage(inner, LoopLag(inner.loop))
        await subject.write()
        return b"".join(await subject.write())

    return parse(broker.thread_home.run(write).decode())


def test_everything_in_the_table_is_told_and_nothing_else(page: Page) -> None:
    told = set(METRICS) & page.names()
    told |= {name for name in METRICS if f"{name}_count" in page.names()}
    assert set(METRICS) == told
    base = {name.removesuffix(end) for name in page.names() for end in ("_bucket", "_sum", "_count")}
    assert not {name for name in page.names() if name not in METRICS} - {
        f"{name}{end}" for name in base & set(METRICS) for end in ("_bucket", "_sum", "_count")
    }


def test_labels_and_kinds_are_those_of_the_table(page: Page) -> None:
    for family in page.families.values():
        metric = METRICS.get(family.name) or METRICS[f"{family.name}_total"]
        assert family.type == metric.kind
        assert family.documentation == metric.help
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == set(metric.labels)


def test_topic_and_its_traffic_are_told(page: Page, topic: str) -> None:
    place = {"topic": topic, "partition": 0}
    assert page.value("kafka_topic_partitions", topic=topic) == 2
    assert page.value("kafka_topic_partition_current_offset", **place) == MESSAGES
    assert page.value("kafka_topic_partition_oldest_offset", **place) == 0
    assert page.value("kafka_topic_partition_leader", **place) == 1
    assert page.value("kafka_topic_partition_leader_is_preferred", **place) == 1
    assert page.value("kafka_topic_partition_replicas", **place) == 1
    assert page.value("kafka_topic_partition_in_sync_replica", **place) == 1
    assert page.value("kafka_topic_partition_under_replicated_partition", **place) == 0
    assert page.value("penstock_topic_messages_in_total", topic=topic) == MESSAGES
    assert 1 <= page.sum("penstock_topic_batches_in_total", topic=topic) <= MESSAGES
    size = page.value("penstock_topic_bytes_in_total", topic=topic)
    assert size == page.value("penstock_log_size_bytes", topic=topic)
    assert page.sum("penstock_topic_bytes_out_total", topic=topic) >= page.sum(
        "penstock_log_size_bytes", topic=topic
    )


def test_group_and_its_lag_are_told(page: Page, topic: str) -> None:
    place = {"consumergroup": GROUP, "topic": topic, "partition": 0}
    assert page.value("kafka_consumergroup_members", consumergroup=GROUP) == 1
    assert page.value("kafka_consumergroup_current_offset", **place) == READ
    assert page.value("kafka_consumergroup_lag", **place) == MESSAGES - READ
    assert page.value("kafka_consumergroup_lag_sum", consumergroup=GROUP, topic=topic) == MESSAGES - READ
    assert page.value("kafka_consumergroup_current_offset_sum", consumergroup=GROUP, topic=topic) == READ
    assert 0 < page.sum("penstock_consumergroup_lag_seconds", **place) < 60
    assert page.value("penstock_consumergroups", state="Stable") == 1


def test_requests_are_told_by_api(page: Page) -> None:
    assert page.sum("penstock_request_duration_seconds_count", api="Produce") >= 1
    assert page.sum("penstock_request_duration_seconds_bucket", api="Produce", le="+Inf") >= 1
    assert page.sum("penstock_request_bytes_total", api="Produce") > MESSAGES * 7
    assert page.sum("penstock_response_bytes_total", api="Fetch") > MESSAGES * 7
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.name
    assert page.value("penstock_errors_total", api="DeleteTopics", error=error) == 1
    assert page.sum("penstock_flush_duration_seconds_count") >= 1
    assert page.sum("penstock_flushed_bytes_total") >= page.sum("penstock_topic_bytes_in_total")


def test_quorum_is_told(page: Page) -> None:
    assert page.value("penstock_active_controller") == 1
    assert page.value("penstock_raft_leader") == 1
    assert page.value("penstock_raft_commit_offset") == page.value("penstock_raft_applied_offset")
    assert page.value("penstock_raft_elections_total") == 1
    assert page.value("penstock_raft_replica_lag", node=1) == 0


def test_lag_in_time_grows_while_nothing_is_read_and_ends_with_the_lag(broker: Broker) -> None:
    name = broker.create_topic("aging")
    producer = Producer(client(broker))
    producer.produce(name, b"one")
    producer.produce(name, b"two")
    producer.flush()
    consumer = Consumer({**client(broker), "group.id": "slow"})
    try:
        place = {"consumergroup": "slow", "topic": name, "partition": 0}
        _commit(consumer, name, 0)
        first = page_of(broker).value("penstock_consumergroup_lag_seconds", **place)
        broker.clock.advance(seconds=100)
        second = page_of(broker).value("penstock_consumergroup_lag_seconds", **place)
        assert first is not None
        assert second is not None
        assert 100 <= second - first < 130
        _commit(consumer, name, 2)
        third = page_of(broker)
        assert third.value("penstock_consumergroup_lag_seconds", **place) == 0
        assert third.value("kafka_consumergroup_lag", **place) == 0
    finally:
        consumer.close()


def test_deleted_topic_is_told_no_more(broker: Broker) -> None:
    name = broker.create_topic("short-lived")
    producer = Producer(client(broker))
    producer.produce(name, b"one")
    assert producer.flush(10) == 0
    assert page_of(broker).value("penstock_topic_messages_in_total", topic=name) == 1
    broker.delete_topic(name)
    assert not [labels for _, labels in page_of(broker).samples if ("topic", name) in labels]


def test_refused_connections_are_told_by_the_setting() -> None:
    with (
        Broker(settings={"max.connections.per.ip": "1"}) as one,
        socket.create_connection(("127.0.0.1", one.port), timeout=10),
        socket.create_connection(("127.0.0.1", one.port), timeout=10) as refused,
    ):
        assert refused.recv(1) == b""
        page = page_of(one)
    assert page.value("penstock_connections_refused_total", limit="max.connections.per.ip") == 1
    assert page.value("penstock_connections") == 1
    assert page.value("penstock_connections_accepted_total") == 1


def test_pages_asked_for_at_once_are_both_whole(broker: Broker, topic: str) -> None:
    async def write_two(inner: InnerBroker) -> list[list[bytes]]:
        subject = MetricsPage(inner)
        return list(await asyncio.gather(subject.write(), subject.write()))

    for pieces in broker.thread_home.run(write_two):
        found = parse(b"".join(pieces).decode())
        assert found.value("kafka_consumergroup_lag_sum", consumergroup=GROUP, topic=topic) == MESSAGES - READ
        assert len(found.labels_of("kafka_topic_partition_leader", topic=topic)) == 2


def test_others_may_bring_metrics(broker: Broker) -> None:
    brought = Metric(name="penstock_brought", kind=MetricKind.GAUGE, help="By a test.", labels=("who",))

    def source() -> list[Family]:
        return [Family(brought, [(brought.series("me"), 1.5)])]

    sources = broker.thread_home.look(lambda inner: inner.meters.sources)
    sources.append(source)
    try:
        assert page_of(broker).value("penstock_brought", who="me") == 1.5
    finally:
        sources.remove(source)


def test_broken_batch_is_an_error_of_produce(broker: Broker) -> None:
    name = broker.create_topic("strict", max_message_bytes=200)
    failures: list[KafkaError | None] = []
    producer = Producer(client(broker))
    producer.produce(name, b"x" * 1000, on_delivery=lambda error, _: failures.append(error))
    producer.flush(10)
    assert failures[0] is not None
    assert page_of(broker).sum("penstock_errors_total", api="Produce", error="MESSAGE_TOO_LARGE") >= 1


def _commit(consumer: Consumer, topic: str, offset: int) -> None:
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
