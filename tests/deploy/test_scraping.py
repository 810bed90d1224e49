"""A real Prometheus scrapes a real cluster under load: every query of every dashboard has an answer."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import NewTopic
from tests.broker_process import Server, wait_until
from tests.cluster_processes import ProcessCluster
from tests.deploy.expressions import alert_expressions, panel_expressions, variable_series
from tests.deploy.prometheus_process import PROMETHEUS, WITHOUT, Prometheus

from penstock.broker.metrics.address_file import read_address

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROMETHEUS is None, reason=WITHOUT)]

TOPIC = "orders"
RATE_INTERVAL = "10s"
DATA_SECONDS_MAX = 60
CONNECTIONS_PER_ADDRESS = 60
TELEMETRY_INTERVAL_MS = 1_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    settings = {
        "max.connections.per.ip": CONNECTIONS_PER_ADDRESS,
        # All clients are asked for all of their own metrics.
        "telemetry.default.metrics": "*",
        "telemetry.default.interval.ms": TELEMETRY_INTERVAL_MS,
    }
    started = ProcessCluster(tmp_path_factory.mktemp("scraped"), settings=settings).start()
    try:
        started.create_topic(TOPIC, partitions=3)
        refuse_a_connection(started.servers[-1])
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def prometheus(cluster: ProcessCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    addresses = [read_address(str(server.data_directory)) for server in cluster.servers]
    targets = [address for address in addresses if address is not None]
    assert len(targets) == len(cluster.servers)
    with Prometheus(tmp_path_factory.mktemp("prometheus"), targets) as running, Load(cluster):
        yield running


def refuse_a_connection(server: Server) -> None:
    """Somebody with an address of its own connects more often than one address may."""
    with ExitStack() as stack:
        opened = [
            stack.enter_context(
                socket.create_connection(
                    (server.host, server.port), timeout=5, source_address=("127.0.0.9", 0)
                )
            )
            for _ in range(CONNECTIONS_PER_ADDRESS + 1)
        ]
        assert opened[-1].recv(1) == b"", "it was not hung up on"


class Load:
    """A producer, a group that commits, and somebody who is refused, until the end of the block.

    Producer and consumer push their own metrics, as clients of librdkafka do when they are asked.
    """

    def __init__(self, cluster: ProcessCluster) -> None:
        self._cluster = cluster
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._produce, self._consume, self._err)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _produce(self) -> None:
        producer = Producer({"bootstrap.servers": self._cluster.bootstrap, "log_level": 0, "linger.ms": 5})
        while not self._is_over.wait(0.05):
            for number in range(50):
                producer.produce(TOPIC, f"{number}".encode() * 20, f"{number}".encode())
            producer.poll(0)
        producer.flush(10)

    def _consume(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._cluster.bootstrap,
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 200,
                "log_level": 0,
            }
        )
        consumer.subscribe([TOPIC])
        while not self._is_over.is_set():
            consumer.consume(100, 0.2)
        consumer.close()

    def _err(self) -> None:
        while not self._is_over.wait(0.5):
            made = self._cluster.admin.create_topics([NewTopic(TOPIC, 1, 1)])
            try:
                made[TOPIC].result(10)
            except KafkaException:
                continue
            raise AssertionError("a topic was made twice")


def test_all_brokers_are_scraped(prometheus: Prometheus) -> None:
    def all_are_up() -> bool:
        return [target["health"] for target in prometheus.targets()] == ["up"] * 3

    wait_until(all_are_up, what="three targets are up", seconds=DATA_SECONDS_MAX, every_seconds=0.2)


def test_every_query_of_every_dashboard_returns_data(prometheus: Prometheus) -> None:
    asked = {place: _chosen(expression) for place, expression in panel_expressions().items()}
    asked |= {place: _chosen(series) for place, (series, _) in variable_series().items()}
    silent: dict[str, str] = {}

    def all_have_data() -> bool:
        nonlocal silent
        silent = {place: each for place, each in asked.items() if not prometheus.values(each)}
        return not silent

    try:
        wait_until(all_have_data, what="data", seconds=DATA_SECONDS_MAX, every_seconds=1)
    except AssertionError:
        pytest.fail("\n".join(f"{place} has no data: {each}" for place, each in silent.items()))


def test_every_alert_can_be_evaluated_and_none_fires_while_all_is_well(prometheus: Prometheus) -> None:
    wait_until(
        lambda: all(rule["health"] == "ok" for rule in prometheus.rules()),
        what="all rules were evaluated",
        seconds=DATA_SECONDS_MAX,
        every_seconds=0.2,
    )
    assert len(prometheus.rules()) == len(alert_expressions())
    assert not [rule["name"] for rule in prometheus.rules() if rule["state"] == "firing"]


def test_dead_broker_is_noticed(prometheus: Prometheus, cluster: ProcessCluster) -> None:
    """The last of this file: the cluster lacks one from here on."""
    cluster.servers[-1].kill()
    expected = {"PenstockBrokerDown", "PenstockUnderReplicated", "PenstockIsrShrank"}

    def noticed() -> set[str]:
        return {rule["name"] for rule in prometheus.rules() if rule["state"] in ("pending", "firing")}

    wait_until(lambda: expected <= noticed(), what=f"{expected}", seconds=30, every_seconds=0.5)
    assert "PenstockNoController" not in noticed()


def _chosen(expression: str) -> str:
    """With everything chosen at the top of the dashboard, as Grafana would ask."""
    text = expression.replace("$__rate_interval", RATE_INTERVAL)
    for variable in ("$job", "$instance", "$topic", "$group", "$client"):
        text = text.replace(variable, ".*")
    assert "$" not in text
    return text
