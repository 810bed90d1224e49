"""Asking the controller: one that loses the office, one that dies, one that nobody names."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.scripted_broker import HangUpError, ScriptedBroker, metadata, scripted_cluster

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from penstock.wire_client import cluster as cluster_module
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.controller import ask_controller
from penstock.wire_client.errors import BrokenConnectionError, NotServedError

REQUEST = UnregisterBrokerRequest(broker_id=9)


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE_SECONDS_MAX", 0.2)
    monkeypatch.setattr(cluster_module, "_RETRY_SECONDS", 0.001)


@pytest.fixture
def two() -> Iterator[list[ScriptedBroker]]:
    """Two brokers, of which the second is the controller."""
    with scripted_cluster(2, controller_id=2) as brokers:
        yield brokers


def connect(brokers: list[ScriptedBroker]) -> Cluster:
    return Cluster.connect([Address(brokers[0].host, brokers[0].port)])


def answers(code: int = 0) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=code)


def times_asked(broker: ScriptedBroker) -> int:
    return sum(one.api is ApiKey.UNREGISTER_BROKER for one in broker.asked)


def hang_up(request: Any) -> UnregisterBrokerResponse:
    raise HangUpError


def test_controller_that_is_named_is_asked(two: list[ScriptedBroker]) -> None:
    two[1].on(ApiKey.UNREGISTER_BROKER, answers())

    with connect(two) as cluster:
        assert ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST).error_code == 0


def test_controller_that_nobody_names_is_any_broker() -> None:
    with scripted_cluster(2) as brokers:
        brokers[0].on(ApiKey.UNREGISTER_BROKER, answers())
        with connect(brokers) as cluster:
            assert ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST).error_code == 0


def test_controller_that_lost_the_office_is_looked_for_anew(two: list[ScriptedBroker]) -> None:
    def lose(request: Any) -> UnregisterBrokerResponse:
        two[0].on(ApiKey.METADATA, lambda asked: metadata(two, {}, asked, 1))
        return answers(ErrorCode.NOT_CONTROLLER)

    two[1].on(ApiKey.UNREGISTER_BROKER, lose)
    two[0].on(ApiKey.UNREGISTER_BROKER, answers(ErrorCode.BROKER_ID_NOT_REGISTERED))

    with connect(two) as cluster:
        answer = ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert [times_asked(broker) for broker in two] == [1, 1]


def test_controller_that_hangs_up_is_asked_again_on_a_new_connection(two: list[ScriptedBroker]) -> None:
    def hang_up_once(request: Any) -> UnregisterBrokerResponse:
        two[1].on(ApiKey.UNREGISTER_BROKER, answers())
        raise HangUpError

    two[1].on(ApiKey.UNREGISTER_BROKER, hang_up_once)

    with connect(two) as cluster:
        assert ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST).error_code == 0
    assert times_asked(two[1]) == 2


def test_bootstrap_broker_that_is_lost_is_replaced_by_another(two: list[ScriptedBroker]) -> None:
    two[1].on(ApiKey.UNREGISTER_BROKER, answers())

    with connect(two) as cluster:
        two[0].on(ApiKey.METADATA, hang_up)
        two[0].stop_listening()
        assert ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST).error_code == 0
        assert cluster.any_broker().address.port == two[1].port


def test_controller_that_always_hangs_up_is_a_broken_connection(two: list[ScriptedBroker]) -> None:
    two[1].on(ApiKey.UNREGISTER_BROKER, hang_up)

    with connect(two) as cluster, pytest.raises(BrokenConnectionError):
        ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST)


def test_refusal_that_never_passes_is_the_answer_in_the_end(two: list[ScriptedBroker]) -> None:
    two[1].on(ApiKey.UNREGISTER_BROKER, answers(ErrorCode.NOT_CONTROLLER))

    with connect(two) as cluster:
        answer = ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST)
    assert answer.error_code == ErrorCode.NOT_CONTROLLER


def test_request_that_the_controller_does_not_know_is_not_repeated(two: list[ScriptedBroker]) -> None:
    with connect(two) as cluster, pytest.raises(NotServedError, match="UnregisterBroker"):
        ask_controller(cluster, ApiKey.UNREGISTER_BROKER, REQUEST)
