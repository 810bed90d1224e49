"""The clients that all parts of a gateway share."""

from collections.abc import Iterator

import pytest
from tests.conftest import MakeServer

from penstock.gateway.kafka.access import KafkaAccess
from penstock.gateway.settings import GatewaySettings
from penstock.wire_client.topics import find_leaders


@pytest.fixture
def access(bootstrap: str) -> Iterator[KafkaAccess]:
    made = KafkaAccess(GatewaySettings(bootstrap_servers=bootstrap))
    try:
        yield made
    finally:
        made.close()


def test_clients_are_made_once(access: KafkaAccess) -> None:
    assert access.admin is access.admin
    assert access.producer is access.producer


def test_connection_that_a_broker_ended_is_made_again(make_server: MakeServer) -> None:
    broker = make_server()
    access = KafkaAccess(GatewaySettings(bootstrap_servers=broker.bootstrap))
    try:
        with access.cluster() as cluster:
            assert find_leaders(cluster, ["absent"]) == {}
        broker.stop()
        broker.restart()
        with access.cluster() as cluster:
            assert find_leaders(cluster, ["absent"]) == {}
    finally:
        access.close()
