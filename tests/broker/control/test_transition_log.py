"""Each thing is told once, with its cause, however many partitions it moves."""

import logging
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from tests.broker_process import wait_until
from tests.metadata.cluster import ONE, make_image, make_partition

from penstock.broker.control.transition_log import NAMES_SHOWN_MAX, log_elections
from penstock.metadata.fencing import fence
from penstock.metadata.transitions import leader_changes
from penstock.testing import Broker, Cluster

PARTITIONS = 1_000


def test_thousand_elections_for_one_cause_are_one_event(caplog: pytest.LogCaptureFixture) -> None:
    before = make_image(*(make_partition() for _ in range(PARTITIONS)))
    caplog.set_level(logging.INFO, "penstock.broker")
    log_elections(leader_changes(before, before.apply(fence(before, ONE))))

    (record,) = caplog.records
    facts = vars(record)
    assert (record.message, facts["count"], facts["cause"]) == (
        "leader elected",
        PARTITIONS,
        "broker 1 was fenced",
    )
    assert facts["leaders"] == {2: PARTITIONS}
    assert facts["partitions"] == [f"orders-{index}" for index in range(NAMES_SHOWN_MAX)]


def test_details_of_many_are_there_for_who_wants_them(caplog: pytest.LogCaptureFixture) -> None:
    before = make_image(make_partition(), make_partition())
    caplog.set_level(logging.DEBUG, "penstock.broker")
    log_elections(leader_changes(before, before.apply(fence(before, ONE))))

    details = [vars(record) for record in caplog.records if record.levelno == logging.DEBUG]
    assert [(facts["partition"], facts["leader"]) for facts in details] == [("orders-0", 2), ("orders-1", 2)]


def test_partition_that_nobody_leads_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    before = make_image(make_partition((1,)))
    caplog.set_level(logging.INFO, "penstock.broker")
    log_elections(leader_changes(before, before.apply(fence(before, ONE))))

    (record,) = caplog.records
    assert (record.message, record.levelname) == ("partition has no leader", "WARNING")
    assert vars(record)["isr_before"] == [1]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = {
        "broker.heartbeat.interval.ms": "100",
        "broker.session.timeout.ms": "1000",
        "replica.lag.time.max.ms": "800",
    }
    with Cluster(3, settings=settings) as three:
        yield three


def topic_led_by_another_than_the_controller(cluster: Cluster) -> str:
    for _ in range(10):
        topic = cluster.create_topic(partitions=1, replication_factor=3)
        if cluster.leader(topic) is not cluster.controller():
            return topic
    raise AssertionError("the controller leads everything")


def line_of(broker: Broker, event: str, partition: str) -> str | None:
    lines = [line for line in broker.log.splitlines() if event in line and f"partition={partition} " in line]
    return lines[-1] if lines else None


@pytest.mark.slow
def test_leader_tells_how_far_a_follower_lagged_and_that_it_caught_up(cluster: Cluster) -> None:
    topic = topic_led_by_another_than_the_controller(cluster)
    leader, controller = cluster.leader(topic), cluster.controller()
    (follower,) = (broker for broker in cluster.running() if broker not in (leader, controller))
    cluster.partition([leader.node_id], [follower.node_id])
    producer = Producer({"bootstrap.servers": leader.bootstrap_servers, "acks": 1, "log_level": 0})
    producer.produce(topic, b"which it lacks")
    assert producer.flush(10) == 0
    partition = f"{topic}-0"
    wait_until(lambda: line_of(leader, "in-sync set shrank", partition), what="it has shrunk")
    cluster.heal()
    wait_until(lambda: line_of(leader, "in-sync set grew", partition), what="it has grown again")

    shrank, grew = (line_of(leader, f"in-sync set {what}", partition) for what in ("shrank", "grew"))
    assert shrank is not None
    assert grew is not None
    assert f"broker={follower.node_id} cause=it did not keep up within 800 ms lag_ms=" in shrank
    assert int(shrank.rpartition("lag_ms=")[2]) > 800
    assert "cause=it has everything that its leader has" in grew


@pytest.mark.slow
def test_stopped_broker_is_told_of_from_the_first_word_to_the_last(cluster: Cluster) -> None:
    controller = cluster.controller()
    leaving = next(broker for broker in cluster.running() if broker is not controller)
    node_id = leaving.node_id
    topics = [cluster.create_topic(partitions=1, replication_factor=3) for _ in range(3)]
    assert leaving in [cluster.leader(topic) for topic in topics]
    cluster.stop(node_id)

    log = controller.log
    assert f"broker is stopping broker={node_id} cause=it asked for it" in log
    assert f"cause=broker {node_id} is stopping" in log
    assert f"broker fenced broker={node_id} cause=it has handed over what it led, and stops" in log
