"""Brokers on their disks and sockets: what is answered and shown when, and what is copied from whom."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.broker.replication.small_cluster import Node, SmallCluster, check_leads, no_error
from tests.metadata.cluster import ONE, THREE, TWO, make_image
from tests.scenarios.cluster.story import about, story

from penstock.metadata.liveness import BrokerLiveness
from penstock.model.ids import Millis

STALL_SECONDS = 1.0


@contextmanager
def brokers(count: int) -> Iterator[SmallCluster]:
    """So many, with a partition on all of them that the first one leads."""
    cluster = SmallCluster(count)
    try:
        cluster.make_topic(tuple(range(1, count + 1)))
        cluster.run_until(lambda: check_leads(cluster.nodes[1]))
        yield cluster
    finally:
        cluster.close()


def stall_disk(node: Node) -> None:
    """Let nothing get to a broker's disk for a while."""
    node.workers._speed.stalled_until = node.cluster.world.now + STALL_SECONDS


@about("ack-before-write", breaks="a producer is answered")
@about("shown-before-flush", breaks="a consumer is shown")
@story
def disk_stalls() -> None:
    """What is not on disk is neither acknowledged nor shown: a power loss would take it back."""
    with brokers(1) as cluster:
        stall_disk(cluster.nodes[1])
        produced = cluster.client_loop.create_task(cluster.produce(1, b"on its way"))
        cluster.pass_time(STALL_SECONDS / 2)
        shown = cluster.run(cluster.fetch(1)).high_watermark
        assert shown == 0, "a consumer is shown what is not on disk"
        assert not produced.done(), "a producer is answered before anything is on disk"
        cluster.run_until(produced.done)
        assert no_error(produced.result()) == 0


@about("divergence-unchecked", breaks="replicas differ")
@story
def former_leader_has_what_its_successor_never_had() -> None:
    """KIP-279: logs of equal length are not equal logs."""
    with brokers(2) as cluster:
        no_error(cluster.run(cluster.produce(1, b"kept")))
        cluster.network.block([("n2", "n1"), ("n1", "n2")])
        no_error(cluster.run(cluster.produce(1, b"lost", acks=1)))
        cluster.fence(1)
        cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
        no_error(cluster.run(cluster.produce(2, b"new")))
        cluster.network.unblock([("n2", "n1"), ("n1", "n2")])
        cluster.unfence(1)
        cluster.run_until(lambda: len(cluster.partition.isr) == 2)
        first, second = (node.values() for node in cluster.nodes.values())
        assert first == second == [b"kept", b"new"], f"replicas differ: {first} and {second}"


@about("copies-unchecked", breaks="a leader has copied")
@story
def answer_overtaken_by_an_election() -> None:
    """Broker 2 asked for more when it followed broker 1, and is answered when it leads."""
    with brokers(2) as cluster:
        no_error(cluster.run(cluster.produce(1, b"kept")))
        cluster.network.block([("n1", "n2")])
        no_error(cluster.run(cluster.produce(1, b"late", acks=1)))
        cluster.fence(1)
        cluster.run_until(lambda: cluster.nodes[2].partition().is_leader)
        cluster.network.unblock([("n1", "n2")])
        cluster.pass_time(STALL_SECONDS)
        found = cluster.nodes[2].values()
        assert found == [b"kept"], f"a leader has copied from its predecessor: {found}"


@about("sessions-never-end", breaks="a broker that is silent is not shut out")
@story
def broker_falls_silent() -> None:
    """Whoever is not heard of must not lead, nor be waited for."""
    image = make_image()
    liveness = BrokerLiveness(image, session_timeout_ms=9_000, now=Millis(0))
    for node_id in (ONE, THREE):
        liveness.hear(node_id, image.brokers[node_id].epoch, Millis(5_000))
    image = image.apply(liveness.fence_expired(image, Millis(9_000)))
    shut_out = [broker.node_id for broker in image.brokers.values() if broker.is_fenced]
    assert shut_out == [TWO], "a broker that is silent is not shut out"


STORIES = (
    disk_stalls,
    former_leader_has_what_its_successor_never_had,
    answer_overtaken_by_an_election,
    broker_falls_silent,
)
