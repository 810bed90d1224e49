"""A cluster whose links are cut: who is alone acknowledges nothing, and shows nothing that others lack.

Every broker has a network namespace of its own, or, where nobody may make them (and where
``PENSTOCK_TEST_PROXIES`` is set), a proxy before it. The test itself reaches all of them, also those that
cannot reach each other: what a client on the wrong side is told is what matters here.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.chaos.namespaces import HostNetwork, can_make_namespaces, host_network
from tests.chaos.orders_cluster import PARTITIONS, TOPIC, check_end, orders_cluster
from tests.chaos.proxies import ProxyNetwork, proxy_network
from tests.chaos.timed_writer import TimedWriter
from tests.chaos.vitals import IS_LONG_RUN, long_run
from tests.chaos.writers import wait_for_progress
from tests.cluster_processes import ProcessCluster
from tests.raw_kafka import Connection, values_batch

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.slow,
    pytest.mark.timeout(1800 if IS_LONG_RUN else 240),
]

HOSTS = (1, 2, 3)
ROUNDS = 10 if IS_LONG_RUN else 2
LONELY = b"from the wrong side"
HUNG_UP = -1


Network = HostNetwork | ProxyNetwork


@pytest.fixture
def network() -> Iterator[Network]:
    """Three hosts, or what comes next to it."""
    made = host_network(len(HOSTS)) if can_make_namespaces() else proxy_network()
    with made as network:
        yield network


@pytest.fixture
def cluster(tmp_path: Path, network: Network) -> Iterator[ProcessCluster]:
    """A broker on each of them."""
    with orders_cluster(tmp_path, prepare=network.settle) as made:
        yield made


@pytest.fixture
def writer(cluster: ProcessCluster) -> TimedWriter:
    """That reaches everybody, and finds whoever serves it."""
    return TimedWriter(cluster.bootstrap, TOPIC, partitions=PARTITIONS)


def test_isolated_leader_acknowledges_nothing_and_shows_nothing_of_its_own(
    cluster: ProcessCluster, network: Network, writer: TimedWriter
) -> None:
    writer.start()
    for number in range(ROUNDS):
        partition = number % PARTITIONS
        wait_for_progress([writer], 50)
        lonely = cluster.leader_of(TOPIC, partition)
        network.isolate(host_of(cluster, lonely), HOSTS)
        since = time.monotonic()
        assert not any(code == 0 for code in produce_at(lonely, partition, seconds=6.0))
        writer.wait_served(partition, since=since + 1.0)
        shown = values_at(lonely, partition)
        network.heal()
        cluster.wait_in_sync()
        agreed = values_at(cluster.leader_of(TOPIC, partition), partition)
        assert shown == agreed[: len(shown)], "a reader of the minority saw what the majority has not"
        assert LONELY not in agreed
    check_end(cluster, writer)


@long_run
def test_one_way_cuts_lose_nothing(cluster: ProcessCluster, network: Network, writer: TimedWriter) -> None:
    """Somebody who hears and is not heard, or is heard and does not hear."""
    writer.start()
    for number in range(ROUNDS):
        partition = number % PARTITIONS
        wait_for_progress([writer], 50)
        half_deaf = host_of(cluster, cluster.leader_of(TOPIC, partition))
        others = [host for host in HOSTS if host != half_deaf]
        for other in others:
            network.cut(*((other, half_deaf) if number % 2 else (half_deaf, other)))
        since = time.monotonic()
        writer.wait_served(partition, since=since + 5.0)
        network.heal()
        cluster.wait_in_sync()
    check_end(cluster, writer)


@long_run
def test_nobody_reaches_anybody_and_all_is_there_afterwards(
    cluster: ProcessCluster, network: Network, writer: TimedWriter
) -> None:
    cluster.create_topic("others", config={"min.insync.replicas": "2"})
    writer.start()
    wait_for_progress([writer], 50)
    for host in HOSTS:
        network.isolate(host, HOSTS)
    since = time.monotonic()
    answers = [
        code for server in cluster.servers for code in produce_at(server, 0, seconds=2.0, topic="others")
    ]
    assert not any(code == 0 for code in answers)
    network.heal()
    writer.wait_served(0, since=since + 6.0)
    cluster.wait_in_sync()
    check_end(cluster, writer)


def host_of(cluster: ProcessCluster, server: Server) -> int:
    """The number of the host that a broker runs on."""
    return cluster.servers.index(server) + 1


def produce_at(server: Server, partition: int, *, seconds: float, topic: str = TOPIC) -> list[int]:
    """The codes that a client gets which asks just this broker, again and again, with acks=all.

    A broker that doubts that it leads hangs up instead.
    """
    codes = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with Connection(server.bootstrap, timeout=40) as raw:
            try:
                code = raw.produce(topic, partition, values_batch(LONELY), timeout_ms=1000).error_code
            except ConnectionResetError:
                code = HUNG_UP
        codes.append(code)
        time.sleep(0.1)
    assert codes
    return codes


def values_at(server: Server, partition: int) -> list[bytes | None]:
    """What a client reads that asks just this broker; nothing if it does not lead any more."""
    with Connection(server.bootstrap, timeout=40) as raw:
        return raw.fetch_values(TOPIC, partition)
