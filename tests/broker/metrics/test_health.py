"""A broker is ready when the cluster relies on it, and says why when it does not."""

from collections.abc import Iterator

import pytest
from tests.broker_process import wait_until

from penstock.broker.metrics.health import health_of
from penstock.testing import Broker, Cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = {
        "broker.heartbeat.interval.ms": "100",
        "broker.session.timeout.ms": "500",
        "replica.lag.time.max.ms": "500",
    }
    with Cluster(3, settings=settings) as three:
        yield three


def reasons(broker: Broker) -> tuple[str, ...]:
    return broker.thread_home.look(lambda inner: health_of(inner, is_stopping=False).reasons)


def test_brokers_of_a_whole_cluster_are_ready(cluster: Cluster) -> None:
    topic = cluster.create_topic(partitions=3, replication_factor=3)
    cluster.wait_in_sync(topic)
    assert [reasons(broker) for broker in cluster.running()] == [(), (), ()]


def test_broker_that_is_cut_off_is_not_ready_until_it_is_back_in_sync(cluster: Cluster) -> None:
    topic = cluster.create_topic(partitions=3, replication_factor=3)
    cluster.wait_in_sync(topic)
    controller = cluster.controller().node_id
    lost = next(broker for broker in cluster.running() if broker.node_id != controller)
    others = [broker.node_id for broker in cluster.running() if broker is not lost]
    cluster.partition([lost.node_id], others)
    silence = "No controller has answered a heartbeat for the time of a session."
    wait_until(lambda: silence in reasons(lost), what="it notices that nobody answers")
    cluster.heal()
    seen: set[str] = set()

    def is_ready() -> bool:
        found = reasons(lost)
        seen.update(found)
        return not found

    wait_until(is_ready, what="it is ready again", every_seconds=0.001)
    assert {"The cluster has fenced the broker.", silence} & seen
    cluster.wait_in_sync(topic)


def test_replica_that_cannot_be_served_is_named(cluster: Cluster) -> None:
    broker = cluster.running()[0]
    topic = cluster.create_topic(partitions=5, replication_factor=1)
    here = broker.thread_home.look(lambda inner: [each for each in inner.replicas if each.topic == topic])
    assert here
    here[0].failure = "as a test says"
    try:
        (reason,) = reasons(broker)
        assert reason.startswith("1 of ")
        assert reason.endswith(f"replicas cannot be served: {topic}-{here[0].index}.")
    finally:
        here[0].failure = None


def test_replica_whose_log_cannot_be_changed_is_named(cluster: Cluster) -> None:
    broker = cluster.running()[0]
    topic = cluster.create_topic(partitions=5, replication_factor=1)
    here = broker.thread_home.look(lambda inner: [each for each in inner.replicas if each.topic == topic])
    failing = broker.thread_home.look(lambda inner: inner.replication.log_changes.failing)
    failing[here[0]] = "as a test says"
    try:
        (reason,) = reasons(broker)
        assert reason.endswith(f"replicas cannot be served: {topic}-{here[0].index}.")
    finally:
        del failing[here[0]]


def test_stopping_broker_is_not_ready(cluster: Cluster) -> None:
    broker = cluster.running()[0]
    found = broker.thread_home.look(lambda inner: health_of(inner, is_stopping=True))
    assert (found.is_ready, found.reasons) == (False, ("The broker is stopping.",))
