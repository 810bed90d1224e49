"""A cluster for tests: deaths, pauses and cuts that the others notice, and clients that get through them."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from tests.broker_process import wait_until
from tests.testing.records import consume, log_range, new_producer, produce

from penstock.model.errors import UsageError
from penstock.testing import Broker, Cluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    with Cluster(3) as running:
        yield running


@pytest.fixture
def cluster(shared: Cluster) -> Iterator[Cluster]:
    yield shared
    shared.tidy()


def others(cluster: Cluster, broker: Broker) -> list[Broker]:
    return [each for each in cluster.brokers if each is not broker]


def test_brokers_are_numbered_and_have_ports_of_their_own(cluster: Cluster) -> None:
    assert [broker.node_id for broker in cluster.brokers] == [1, 2, 3]
    assert len(set(cluster.bootstrap_servers.split(","))) == 3
    assert cluster.broker(2) is cluster.brokers[1]
    assert cluster.controller() in cluster.brokers


def test_topic_has_three_replicas_in_sync_everywhere(cluster: Cluster) -> None:
    topic = cluster.create_topic(partitions=4)
    for broker in cluster.brokers:
        image = broker.thread_home.look(lambda running: running.image)
        partitions = image.topics[topic].partitions
        assert [sorted(each.replicas) for each in partitions] == [[1, 2, 3]] * 4
        assert [sorted(each.isr) for each in partitions] == [[1, 2, 3]] * 4


def test_leader_that_is_killed_is_followed_by_another_without_loss(cluster: Cluster) -> None:
    topic = cluster.create_topic(min_insync_replicas=2)
    before = cluster.leader(topic)
    produce(cluster.bootstrap_servers, topic, "one", acks="all")
    cluster.kill(before)
    after = cluster.leader(topic)
    assert after is not before
    assert produce(cluster.bootstrap_servers, topic, "two", acks="all") == [1]
    cluster.restart(before)
    cluster.wait_in_sync(topic)
    assert consume(before.bootstrap_servers, topic, 2) == ["one", "two"]


def test_aiokafka_sends_through_the_death_of_a_leader(cluster: Cluster) -> None:
    topic = cluster.create_topic(min_insync_replicas=2)

    async def send() -> list[int]:
        producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, enable_idempotence=True)
        await producer.start()
        try:
            first = await producer.send_and_wait(topic, b"one")
            await asyncio.to_thread(cluster.kill, cluster.leader(topic))
            second = await producer.send_and_wait(topic, b"two")
            return [first.offset, second.offset]
        finally:
            await producer.stop()

    assert asyncio.run(send()) == [0, 1]


def test_paused_leader_is_noticed_and_comes_back_as_a_follower(cluster: Cluster) -> None:
    topic = cluster.create_topic()
    paused = cluster.leader(topic)
    cluster.pause(paused)
    assert paused.is_paused
    successor = cluster.leader(topic)
    assert successor is not paused
    assert produce(successor.bootstrap_servers, topic, "meanwhile") == [0]
    cluster.resume(paused)
    cluster.wait_in_sync(topic)
    assert consume(paused.bootstrap_servers, topic, 1) == ["meanwhile"]


def test_leader_that_is_cut_off_is_replaced_and_its_unsafe_writes_are_gone(cluster: Cluster) -> None:
    topic = cluster.create_topic()
    lonely = cluster.leader(topic)
    cluster.partition([lonely], others(cluster, lonely))
    # Clients still reach it, and it does not know yet: what it alone has taken is not safe.
    producer = new_producer(lonely.bootstrap_servers, acks=1, enable_idempotence=False)
    producer.produce(topic, b"unsafe")
    producer.flush(0.5)
    wait_until(lambda: leader_among(cluster, topic, lonely), what="another leader", seconds=30)
    successor = others(cluster, lonely)[0]
    assert produce(successor.bootstrap_servers, topic, "safe", acks="all") == [0]
    producer.purge()
    producer.flush(0)
    cluster.heal()
    cluster.wait_whole()
    cluster.wait_in_sync(topic)
    assert consume(lonely.bootstrap_servers, topic, 1) == ["safe"]
    assert log_range(lonely.bootstrap_servers, topic) == (0, 1)


def leader_among(cluster: Cluster, topic: str, lonely: Broker) -> bool:
    """Whether the others have agreed on one of them."""
    seen = {
        broker.thread_home.look(lambda running: running.image.topics[topic].partitions[0].leader)
        for broker in others(cluster, lonely)
    }
    return len(seen) == 1 and seen != {lonely.node_id} and seen != {-1}


def test_cut_also_from_clients_lets_nothing_through_until_it_heals(cluster: Cluster) -> None:
    topic = cluster.create_topic(replication_factor=1)
    leader = cluster.leader(topic)
    producer = new_producer(cluster.bootstrap_servers)
    producer.produce(topic, b"one")
    assert producer.flush(10) == 0
    cluster.partition(clients=[leader])
    producer.produce(topic, b"two")
    assert producer.flush(0.5) == 1
    assert leader.thread_home.look(lambda running: next(iter(running.replicas)) is not None)
    cluster.heal()
    assert producer.flush(20) == 0
    assert log_range(cluster.bootstrap_servers, topic) == (0, 2)


def test_cut_needs_two_sides(cluster: Cluster) -> None:
    with pytest.raises(UsageError, match="two sides"):
        cluster.partition([1])
    with pytest.raises(UsageError, match="no node 9"):
        cluster.kill(9)


def test_fault_of_the_cluster_strikes_whichever_broker_leads(cluster: Cluster) -> None:
    topic = cluster.create_topic(partitions=3)
    fault = cluster.faults.fail("Produce", error="NOT_LEADER_OR_FOLLOWER", times=3, topic=topic)
    for partition in range(3):
        assert produce(cluster.bootstrap_servers, topic, "x", partition=partition) == [0]
    assert fault.hits == 3
    assert cluster.requests.count("Produce", topic=topic) == 6


def test_faults_of_a_broker_do_not_strike_its_peers(cluster: Cluster) -> None:
    topic = cluster.create_topic()
    fault = cluster.faults.drop("Fetch")
    assert produce(cluster.bootstrap_servers, topic, "x", acks="all") == [0]
    assert fault.hits == 0


def test_clocks_move_together_and_the_cluster_stays_whole(cluster: Cluster) -> None:
    topic = cluster.create_topic(retention_ms=3_600_000)
    produce(cluster.bootstrap_servers, topic, "one")
    cluster.clock.advance(hours=2)
    wait_until(lambda: log_range(cluster.bootstrap_servers, topic) == (1, 1), what="an expired log")
    assert produce(cluster.bootstrap_servers, topic, "two", acks="all") == [1]


def test_cluster_leaves_no_thread_when_its_block_fails() -> None:
    before = set(threading.enumerate())
    with pytest.raises(ZeroDivisionError), Cluster(2) as cluster:
        cluster.pause(cluster.brokers[0].node_id / 0)  # type: ignore[arg-type]
    assert set(threading.enumerate()) == before


def test_named_directory_brings_the_cluster_back(tmp_path: Path) -> None:
    with Cluster(3, directory=tmp_path) as cluster:
        topic = cluster.create_topic()
        produce(cluster.bootstrap_servers, topic, "kept", acks="all")
        ports = [broker.port for broker in cluster.brokers]
    with Cluster(3, directory=tmp_path) as cluster:
        assert [broker.port for broker in cluster.brokers] == ports
        assert consume(cluster.bootstrap_servers, topic, 1) == ["kept"]
    with pytest.raises(UsageError, match="3 brokers"):
        Cluster(2, directory=tmp_path)


def test_brokers_that_all_died_come_back_together(cluster: Cluster) -> None:
    topic = cluster.create_topic()
    produce(cluster.bootstrap_servers, topic, "one", acks="all")
    for broker in cluster.brokers:
        cluster.kill(broker)
    cluster.restart(*cluster.brokers)
    cluster.wait_whole()
    assert consume(cluster.bootstrap_servers, topic, 1) == ["one"]


def test_processes_survive_a_real_kill_and_a_real_stop(tmp_path: Path) -> None:
    with Cluster(3, process=True) as cluster:
        topic = cluster.create_topic(min_insync_replicas=2)
        produce(cluster.bootstrap_servers, topic, "one", acks="all")
        killed = cluster.leader(topic)
        cluster.kill(killed)
        assert produce(cluster.bootstrap_servers, topic, "two", acks="all") == [1]
        cluster.restart(killed)
        cluster.wait_in_sync(topic)
        paused = cluster.leader(topic)
        cluster.pause(paused)
        assert cluster.leader(topic) is not paused
        cluster.resume(paused)
        with pytest.raises(UsageError, match="process=True"):
            cluster.partition([1], [2, 3])


def test_async_block_runs_a_cluster() -> None:
    async def run() -> float:
        async with Cluster(2) as cluster:
            assert len(cluster.running()) == 2
            return time.monotonic()

    assert asyncio.run(run()) > 0
