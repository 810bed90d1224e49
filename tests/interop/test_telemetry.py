"""Real clients push their metrics when somebody wants them (KIP-714), and are left alone otherwise."""

import logging
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer
from tests.broker.metrics.scraping import Page, page_of

from penstock.cli.wire_session import connected
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.testing import Broker
from penstock.wire_client.configs import alter_configs

pytestmark = pytest.mark.interop

WAIT_SECONDS_MAX = 20
PATIENCE = (0.1, 1, 5)
"""Seconds for an answer to arrive, which nobody can see: a client that was not told yet does not push."""


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as one:
        one.create_topic("orders")
        yield one


def want(broker: Broker, metrics: str, *, interval_ms: int = 200) -> None:
    subscription = ConfigResource(ResourceType.CLIENT_METRICS, "wanted")
    with connected(broker.bootstrap_servers) as cluster:
        alter_configs(cluster, {subscription: {"metrics": metrics, "interval.ms": str(interval_ms)}})


def wait_page(broker: Broker, is_there: Callable[[Page], object], work: Callable[[], object]) -> Page:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_there(page := page_of(broker)):
        assert time.monotonic() < deadline, sorted(page.names())
        work()
        time.sleep(0.05)
    return page


def test_producer_pushes_and_its_numbers_appear(broker: Broker) -> None:
    want(broker, "*")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "client.id": "pusher"})

    def work() -> None:
        producer.produce("orders", b"value")
        producer.flush()

    name = "penstock_client_producer_request_latency_avg"
    page = wait_page(broker, lambda page: page.sum(name, client_id="pusher") > 0, work)
    (who,) = page.labels_of("penstock_client_info", client_id="pusher")
    assert dict(who)["client_software_name"] == "confluent-kafka-python"
    assert page.labels_of("penstock_client_producer_node_request_latency_max", node_id=1)
    assert page.value("penstock_telemetry_dropped_values_total") == 0


def test_consumer_pushes_only_what_is_wanted(broker: Broker) -> None:
    want(broker, "org.apache.kafka.consumer.connection.")
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "readers", "client.id": "reader"}
    )
    consumer.subscribe(["orders"])
    try:
        wanted = "penstock_client_consumer_connection_creation_total"
        page = wait_page(broker, lambda page: page.labels_of(wanted), lambda: consumer.poll(0.1))
    finally:
        consumer.close()
    told = {name for name in page.names() if name.startswith("penstock_client_")}
    assert told <= {"penstock_client_info", wanted, "penstock_client_consumer_connection_creation_rate"}


def test_client_that_closes_before_its_turn_pushes_a_last_time(broker: Broker) -> None:
    want(broker, "*", interval_ms=60_000)
    for seconds in PATIENCE:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "client.id": "short-lived"})
        producer.produce("orders", b"value")
        producer.flush()
        broker.requests.wait("GetTelemetrySubscriptions", client_id="short-lived")
        time.sleep(seconds)
        del producer
        if page_of(broker).labels_of("penstock_client_info", client_id="short-lived"):
            break
    assert page_of(broker).labels_of("penstock_client_producer_connection_creation_total")


def test_clients_are_left_alone_while_nothing_is_wanted(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "client.id": "quiet"},
        logger=logging.getLogger("librdkafka"),
    )
    for _ in range(5):
        producer.produce("orders", b"value")
        producer.flush()
        producer.poll(0.05)
    asked = {request.api for request in broker.requests}
    assert "Produce" in asked
    assert not [api for api in asked if "Telemetry" in api]
    assert page_of(broker).value("penstock_telemetry_clients") == 0
    assert not [record for record in caplog.records if record.name == "librdkafka"]
