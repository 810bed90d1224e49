"""The two APIs on a real broker, answered as Kafka answers them."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.broker.metrics.scraping import Page, page_of
from tests.broker.telemetry.otlp_writer import gauge, metrics_data, point, total

from penstock.bench.connection import Connection, parse_address
from penstock.broker.telemetry import telemetry
from penstock.cli.wire_session import connected
from penstock.config.client_metrics_keys import INTERVAL_MS_DEFAULT
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.records.compression import Codec, compress
from penstock.testing import Broker
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from penstock.wire.messages.list_config_resources import ListConfigResourcesRequest
from penstock.wire.messages.push_telemetry import PushTelemetryRequest
from penstock.wire_client.configs import alter_configs

INTERVAL_MS = 1_000
NEW = bytes(16)
NAME = "org.apache.kafka.test.requests"
PUSH = metrics_data([total(NAME, point(5)), gauge("test.gauge", point(0.5, node_id=1))])


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(settings={"telemetry.max.bytes": 2_000}) as one:
        yield one


class Client:
    """One that asks and pushes."""

    def __init__(self, broker: Broker) -> None:
        self.connection = Connection(parse_address(broker.bootstrap_servers))
        self.id = NEW
        self.subscription_id = 0

    def ask(self) -> Any:
        answer = self.connection.call(
            ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, GetTelemetrySubscriptionsRequest(client_instance_id=self.id)
        )
        if answer.error_code == ErrorCode.NONE:
            self.id, self.subscription_id = answer.client_instance_id, answer.subscription_id
        return answer

    def push(self, metrics: bytes = PUSH, **rest: Any) -> int:
        given = {"client_instance_id": self.id, "subscription_id": self.subscription_id, **rest}
        request = PushTelemetryRequest(metrics=metrics, **given)
        answer = self.connection.call(ApiKey.PUSH_TELEMETRY, request)
        return int(answer.error_code)


def subscribe(broker: Broker, name: str = "all", **settings: str | None) -> None:
    changes = {key.replace("_", "."): value for key, value in settings.items()}
    with connected(broker.bootstrap_servers) as cluster:
        alter_configs(cluster, {ConfigResource(ResourceType.CLIENT_METRICS, name): changes})


@pytest.fixture
def client(broker: Broker) -> Iterator[Client]:
    """Of a broker that wants everything, every second."""
    subscribe(broker, metrics="*", interval_ms=str(INTERVAL_MS))
    one = Client(broker)
    with one.connection:
        yield one


def shown(broker: Broker) -> Page:
    return page_of(broker)


def test_apis_are_told_only_while_metrics_are_wanted(broker: Broker) -> None:
    def told() -> set[ApiKey]:
        with Connection(parse_address(broker.bootstrap_servers)) as connection:
            return {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY} & set(connection.versions)

    assert told() == set()
    subscribe(broker, interval_ms="1000")
    assert told() == set()
    subscribe(broker, metrics="a.")
    assert len(told()) == 2
    subscribe(broker, metrics=None, interval_ms=None)
    assert told() == set()


def test_client_is_given_an_id_and_told_what_is_wanted(client: Client) -> None:
    answer = client.ask()
    assert answer.error_code == ErrorCode.NONE
    assert answer.client_instance_id not in telemetry.RESERVED_IDS
    assert answer.requested_metrics == ("*",)
    assert answer.push_interval_ms == INTERVAL_MS
    assert answer.telemetry_max_bytes == 2_000
    assert answer.delta_temporality
    assert answer.accepted_compression_types == (4, 3, 1, 2)


def test_pushes_are_shown_and_add_up(broker: Broker, client: Client) -> None:
    client.ask()
    assert client.push() == ErrorCode.NONE
    assert shown(broker).sum("penstock_client_test_requests_total") == 5
    broker.clock.advance(seconds=INTERVAL_MS / 1000)
    assert client.push(compress(Codec.ZSTD, PUSH), compression_type=Codec.ZSTD) == ErrorCode.NONE
    page = shown(broker)
    assert page.sum("penstock_client_test_requests_total") == 10
    assert page.sum("penstock_client_test_gauge", node_id=1) == 0.5
    assert page.sum("penstock_client_info", client_source_address="127.0.0.1") == 1
    assert page.value("penstock_telemetry_clients") == 1


def test_client_that_asks_again_too_soon_is_throttled(broker: Broker, client: Client) -> None:
    client.ask()
    assert client.ask().error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    broker.clock.advance(seconds=INTERVAL_MS / 1000)
    assert client.ask().error_code == ErrorCode.NONE


def test_push_before_its_turn_is_throttled_unless_it_is_the_last(broker: Broker, client: Client) -> None:
    client.ask()
    assert client.push() == ErrorCode.NONE
    assert client.push() == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert client.push(terminating=True) == ErrorCode.NONE
    broker.clock.advance(seconds=INTERVAL_MS / 1000)
    assert client.push() == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"client_instance_id": NEW}, ErrorCode.INVALID_REQUEST),
        ({"client_instance_id": bytes(15) + b"\x01"}, ErrorCode.INVALID_REQUEST),
        ({"subscription_id": 1}, ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
        ({"compression_type": 5}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"compression_type": -1}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"metrics": bytes(2_001)}, ErrorCode.TELEMETRY_TOO_LARGE),
        ({"metrics": b"\xff"}, ErrorCode.INVALID_RECORD),
        ({"compression_type": Codec.GZIP}, ErrorCode.INVALID_RECORD),
        ({"metrics": b""}, ErrorCode.NONE),
    ],
)
def test_push_is_refused_as_kafka_refuses_it(client: Client, given: dict[str, Any], error: ErrorCode) -> None:
    client.ask()
    assert client.push(**given) == error


def test_client_may_ask_at_once_after_what_only_asking_mends(client: Client) -> None:
    client.ask()
    assert client.push(subscription_id=1) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert client.ask().error_code == ErrorCode.NONE


def test_change_of_mind_is_told_with_the_next_push(broker: Broker, client: Client) -> None:
    client.ask()
    assert client.push() == ErrorCode.NONE
    subscribe(broker, metrics="org.", interval_ms="500")
    assert client.push() == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    answer = client.ask()
    assert (answer.requested_metrics, answer.push_interval_ms) == (("org.",), 500)
    assert client.push() == ErrorCode.NONE
    assert shown(broker).sum("penstock_client_test_requests_total") == 10, "what was told before stays"


def test_client_may_go_on_with_a_broker_that_does_not_know_it(broker: Broker, client: Client) -> None:
    client.ask()
    broker.restart()
    with Client(broker).connection as connection:
        client.connection = connection
        assert client.push() == ErrorCode.NONE
    assert shown(broker).sum("penstock_client_test_requests_total") == 5


def test_client_that_falls_silent_is_forgotten(broker: Broker, client: Client) -> None:
    client.ask()
    client.push()
    broker.clock.advance(seconds=50)
    assert shown(broker).sum("penstock_client_test_requests_total") == 5
    broker.clock.advance(seconds=15)
    page = shown(broker)
    assert page.value("penstock_telemetry_clients") == 0
    assert not [name for name in page.names() if name.startswith("penstock_client_")]


def test_longest_silent_client_makes_room(
    broker: Broker, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "TELEMETRY_CLIENTS_MAX", 2)
    client.ask()
    client.push()
    for _ in range(2):
        client.id = NEW
        client.ask()
    page = shown(broker)
    assert page.value("penstock_telemetry_clients") == 2
    assert page.sum("penstock_client_test_requests_total") == 0


def test_subscriptions_that_match_are_one_and_others_do_not_count(broker: Broker) -> None:
    subscribe(broker, "one", metrics="a.,b.", interval_ms="4000")
    subscribe(broker, "two", metrics="b.,c.", interval_ms="3000", match="client_id=penstock-.*")
    subscribe(broker, "three", metrics="*", interval_ms="200", match="client_software_name=nobody")
    client = Client(broker)
    with client.connection:
        answer = client.ask()
    assert answer.requested_metrics == ("a.", "b.", "c.")
    assert answer.push_interval_ms == 3_000


def test_settings_of_the_broker_ask_all_clients() -> None:
    with Broker(settings={"telemetry.default.metrics": "x."}) as broker:
        client = Client(broker)
        with client.connection:
            answer = client.ask()
        assert (answer.requested_metrics, answer.push_interval_ms) == (("x.",), 60_000)


def test_client_that_nobody_means_is_asked_for_nothing(broker: Broker) -> None:
    subscribe(broker, metrics="*", match="client_source_port=1")
    client = Client(broker)
    with client.connection:
        answer = client.ask()
    assert (answer.requested_metrics, answer.push_interval_ms) == ((), INTERVAL_MS_DEFAULT)


def test_subscriptions_are_listed_and_kept(broker: Broker) -> None:
    subscribe(broker, "b", metrics="*")
    subscribe(broker, "a", metrics="*")
    broker.restart()
    with Connection(parse_address(broker.bootstrap_servers)) as connection:
        request = ListConfigResourcesRequest(resource_types=(ResourceType.CLIENT_METRICS,))
        listed = connection.call(ApiKey.LIST_CONFIG_RESOURCES, request).config_resources
    assert [(each.resource_name, each.resource_type) for each in listed] == [("a", 16), ("b", 16)]
