"""A broker of three dies while our clients work: nothing is lost, nothing out of order, nobody hangs."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.reading import read_all
from tests.cluster_processes import ProcessCluster
from tests.lively_broker import LIVELY

from penstock import Admin, AsyncConsumer, AsyncProducer, Consumer, Producer, RecordMetadata
from penstock.testing import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.chaos, pytest.mark.timeout(240)]

TOPIC, PARTITIONS, RECORDS = "orders", 3, 3000


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProcessCluster]:
    made = ProcessCluster(tmp_path, settings=LIVELY)
    try:
        made.start()
        made.create_topic(TOPIC, partitions=PARTITIONS, config={"min.insync.replicas": "2"})
        yield made
    finally:
        made.close()


def check(cluster: ProcessCluster, places: list[RecordMetadata]) -> None:
    """Every record stands once, where it was said to be, in the order it was sent in."""
    messages = read_all(cluster.bootstrap, TOPIC, RECORDS, partitions=PARTITIONS)
    found = {(message.partition, message.offset): int(message.value) for message in messages}
    assert [found[place.partition, place.offset] for place in places] == list(range(RECORDS))
    for partition in range(PARTITIONS):
        numbers = [int(message.value) for message in messages if message.partition == partition]
        assert numbers == sorted(numbers)


def test_producer_loses_nothing_when_a_leader_is_killed(cluster: ProcessCluster) -> None:
    victim = cluster.leader_of(TOPIC, 0)
    with Producer(bootstrap_servers=cluster.bootstrap, linger_ms=1) as producer:
        deliveries = []
        for number in range(RECORDS):
            deliveries.append(producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS))
            if number == RECORDS // 3:
                deliveries[0].result(30)
                victim.kill()
        places = [delivery.result(120) for delivery in deliveries]
        assert producer.metrics().records_failed == 0
    check(cluster, places)


def test_async_producer_loses_nothing_when_a_leader_is_killed(cluster: ProcessCluster) -> None:
    victim = cluster.leader_of(TOPIC, 0)

    async def run() -> list[RecordMetadata]:
        async with AsyncProducer(bootstrap_servers=cluster.bootstrap, linger_ms=1) as producer:
            deliveries = []
            for number in range(RECORDS):
                deliveries.append(producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS))
                await producer.drain()
                if number == RECORDS // 3:
                    await deliveries[0]
                    victim.kill()
            return list(await asyncio.gather(*deliveries))

    check(cluster, asyncio.run(run()))


def test_group_reads_everything_when_a_broker_is_killed(cluster: ProcessCluster) -> None:
    settings = {
        "bootstrap_servers": cluster.bootstrap,
        "group_id": "readers",
        "auto_offset_reset": "earliest",
    }
    seen: list[int] = []
    half_way = threading.Event()

    async def read_async() -> None:
        async with AsyncConsumer(**settings) as consumer:  # type: ignore[arg-type]
            await consumer.subscribe(TOPIC)
            async for message in consumer.messages(idle_timeout=20):
                seen.append(int(message.value))
                if len(set(seen)) == RECORDS:
                    break

    with Producer(bootstrap_servers=cluster.bootstrap, linger_ms=1) as producer:
        producer.send_batch([(TOPIC, b"%d" % number) for number in range(RECORDS // 2)])
        with Consumer(**settings) as consumer:  # type: ignore[arg-type]
            consumer.subscribe(TOPIC)
            for message in consumer:
                seen.append(int(message.value))
                if len(seen) == RECORDS // 4:
                    cluster.controller().kill()
                    half_way.set()
                if len(set(seen)) == RECORDS // 2:
                    break
        assert half_way.is_set()
        producer.send_batch([(TOPIC, b"%d" % number) for number in range(RECORDS // 2, RECORDS)])
    asyncio.run(read_async())
    assert sorted(set(seen)) == list(range(RECORDS))


def test_administrator_finds_the_next_controller_when_the_one_it_knew_is_gone() -> None:
    """The next comes only when librdkafka has looked for it in vain, and would look again in minutes."""
    with Cluster(3) as cluster, Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.create_topic("before", partitions=2, replication_factor=3)
        controller, other, _ = cluster.brokers
        known = admin.describe_cluster().controller
        assert known is not None
        assert known.id == controller.node_id
        controller.kill()
        other.kill()
        comes_back = threading.Timer(2, cluster.restart, [other])
        comes_back.start()
        try:
            admin.create_topic("after", partitions=2)
        finally:
            comes_back.join()
        assert len(admin.describe_topic("after").partitions) == 2
