"""Settings over the wire: who is asked, what is refused, what passes by itself."""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import pytest
from tests.cli.scripted_broker import Script, ScriptedBroker, scripted_cluster

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from penstock.wire.messages.incremental_alter_configs import (
    DELETE,
    SET,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from penstock.wire_client import cluster as cluster_module
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.configs import (
    alter_configs,
    broker_resource,
    changed_configs,
    topic_resource,
)
from penstock.wire_client.connection import Address
from penstock.wire_client.errors import RefusedError

DYNAMIC_TOPIC, DYNAMIC_BROKER, STATIC, DEFAULT = 1, 2, 4, 5


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE_SECONDS_MAX", 0.2)
    monkeypatch.setattr(cluster_module, "_RETRY_SECONDS", 0.001)


@pytest.fixture
def two() -> Iterator[list[ScriptedBroker]]:
    with scripted_cluster(2) as brokers:
        for broker in brokers:
            broker.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, alters(0))
            broker.on(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsResponse())
        yield brokers


@pytest.fixture
def cluster(two: list[ScriptedBroker]) -> Iterator[Cluster]:
    with Cluster.connect([Address(two[0].host, two[0].port)]) as connected:
        yield connected


def alters(*codes: int) -> Script:
    """Answers with one code after another for every resource, and then always with the last."""
    following = chain(codes, repeat(codes[-1]))

    def answer(request: Any) -> IncrementalAlterConfigsResponse:
        code = next(following)
        return IncrementalAlterConfigsResponse(
            responses=tuple(
                AlterConfigsResourceResponse(
                    error_code=code,
                    error_message="No." if code else None,
                    resource_type=each.resource_type,
                    resource_name=each.resource_name,
                )
                for each in request.resources
            )
        )

    return answer


def asked_names(broker: ScriptedBroker) -> list[list[str]]:
    """The resources of each request to change settings."""
    requests = [one.message for one in broker.asked if one.api is ApiKey.INCREMENTAL_ALTER_CONFIGS]
    return [[each.resource_name for each in request.resources] for request in requests]


def test_change_of_a_broker_goes_to_that_broker_and_of_a_topic_to_any(
    cluster: Cluster, two: list[ScriptedBroker]
) -> None:
    alter_configs(cluster, {topic_resource("orders"): {"a": "1"}, broker_resource(2): {"b": None}})

    assert [asked_names(broker) for broker in two] == [[["orders"]], [["2"]]]
    (changed,) = two[1].asked[-1].message.resources[0].configs
    assert (changed.name, changed.config_operation, changed.value) == ("b", DELETE, None)
    (changed,) = two[0].asked[-1].message.resources[0].configs
    assert (changed.name, changed.config_operation, changed.value) == ("a", SET, "1")


def test_change_without_a_value_asks_nobody(cluster: Cluster, two: list[ScriptedBroker]) -> None:
    alter_configs(cluster, {topic_resource("orders"): {}})

    assert asked_names(two[0]) == []


def test_change_is_asked_for_again_while_no_controller_decides(
    cluster: Cluster, two: list[ScriptedBroker]
) -> None:
    two[0].on(ApiKey.INCREMENTAL_ALTER_CONFIGS, alters(ErrorCode.NOT_CONTROLLER, 0))

    alter_configs(cluster, {topic_resource("orders"): {"a": "1"}})
    assert asked_names(two[0]) == [["orders"], ["orders"]]


@pytest.mark.parametrize("code", [ErrorCode.INVALID_CONFIG, ErrorCode.NOT_CONTROLLER])
def test_change_that_is_refused_says_of_what_and_why(
    cluster: Cluster, two: list[ScriptedBroker], code: ErrorCode
) -> None:
    two[1].on(ApiKey.INCREMENTAL_ALTER_CONFIGS, alters(code))

    with pytest.raises(RefusedError, match=r"Cannot change settings of broker 2: No \(") as refused:
        alter_configs(cluster, {broker_resource(2): {"a": "1"}})
    assert refused.value.code == code


def test_changed_are_those_that_were_set_on_the_thing_itself(
    cluster: Cluster, two: list[ScriptedBroker]
) -> None:
    def describe(request: Any) -> DescribeConfigsResponse:
        sources = {"a": DYNAMIC_TOPIC, "b": DYNAMIC_BROKER, "c": STATIC, "d": DEFAULT}
        configs = tuple(
            DescribeConfigsResourceResult(name=name, value="1", config_source=source)
            for name, source in sources.items()
            if request.resources[0].resource_name == "orders"
        )
        return DescribeConfigsResponse(
            results=tuple(
                DescribeConfigsResult(
                    resource_type=each.resource_type, resource_name=each.resource_name, configs=configs
                )
                for each in request.resources
            )
        )

    for broker in two:
        broker.on(ApiKey.DESCRIBE_CONFIGS, describe)

    found = changed_configs(cluster, [topic_resource("orders"), broker_resource(2)], ["a", "b", "c", "d"])
    assert found == {topic_resource("orders"): {"a": "1", "b": "1"}}
    assert two[1].asked[-1].message.resources[0].resource_name == "2"


def test_settings_that_may_not_be_read_are_refused(cluster: Cluster, two: list[ScriptedBroker]) -> None:
    result = DescribeConfigsResult(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, resource_type=2, resource_name="orders"
    )
    two[0].on(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsResponse(results=(result,)))

    with pytest.raises(RefusedError, match="Cannot read settings of topic 'orders'"):
        changed_configs(cluster, [topic_resource("orders")], ["a"])
