"""Subscriptions of clients' metrics are settings of a resource of their own."""

import pytest

from penstock.config.broker_config import BrokerConfig
from penstock.config.settings import ConfigSource
from penstock.config.sources import load_broker_config
from penstock.metadata.config_changes import alter_configs, incremental_alter_configs
from penstock.metadata.describe_configs import describe_configs
from penstock.metadata.image import ClusterImage
from penstock.metadata.list_config_resources import list_config_resources
from penstock.metadata.records import ConfigRecord, TopicRecord
from penstock.metadata.resources import ResourceType
from penstock.metadata.snapshot import snapshot_records
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.model.limits import TELEMETRY_SUBSCRIPTIONS_MAX
from penstock.wire.messages import alter_configs as whole
from penstock.wire.messages import incremental_alter_configs as incremental
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.list_config_resources import ListConfigResourcesRequest

KIND = ResourceType.CLIENT_METRICS


@pytest.fixture
def config() -> BrokerConfig:
    return load_broker_config()


def alter(
    image: ClusterImage, config: BrokerConfig, name: str, operation: int = incremental.SET, **values: str
) -> tuple[ClusterImage, int]:
    """The image afterwards, and the error."""
    request = incremental.IncrementalAlterConfigsRequest(
        resources=(
            incremental.AlterConfigsResource(
                resource_type=KIND,
                resource_name=name,
                configs=tuple(
                    incremental.AlterableConfig(
                        name=key.replace("_", "."), config_operation=operation, value=value
                    )
                    for key, value in values.items()
                ),
            ),
        )
    )
    result = incremental_alter_configs(image, request, config=config)
    return image.apply(result.records), result.response.responses[0].error_code


def names(image: ClusterImage, *kinds: int, version: int = 1) -> list[tuple[str, int]]:
    request = ListConfigResourcesRequest(resource_types=kinds)
    answer = list_config_resources(image, request, version=version)
    assert answer.error_code == ErrorCode.NONE
    return [(each.resource_name, each.resource_type) for each in answer.config_resources]


def test_subscription_is_made_changed_and_gone_with_its_last_setting(config: BrokerConfig) -> None:
    image, error = alter(ClusterImage(), config, "one", metrics="a.", interval_ms="1000")
    assert (error, names(image, KIND)) == (ErrorCode.NONE, [("one", KIND)])
    image, _ = alter(image, config, "one", incremental.APPEND, metrics="b.")
    assert image.configs[next(iter(image.configs))] == {"metrics": "a.,b.", "interval.ms": "1000"}
    assert ClusterImage().apply(snapshot_records(image)) == image
    image, _ = alter(image, config, "one", incremental.DELETE, metrics="", interval_ms="")
    assert names(image, KIND) == []


@pytest.mark.parametrize(
    ("name", "values", "error"),
    [
        ("", {"metrics": "a"}, ErrorCode.INVALID_REQUEST),
        ("one", {"color": "red"}, ErrorCode.INVALID_REQUEST),
        ("one", {"interval_ms": "99"}, ErrorCode.INVALID_REQUEST),
        ("one", {"interval_ms": "3600001"}, ErrorCode.INVALID_REQUEST),
        ("one", {"match": "client_id=("}, ErrorCode.INVALID_CONFIG),
        ("one", {"match": "nothing"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_nonsense_is_refused_as_kafka_refuses_it(
    config: BrokerConfig, name: str, values: dict[str, str], error: ErrorCode
) -> None:
    image, found = alter(ClusterImage(), config, name, incremental.SET, **values)
    assert (found, image.configs) == (error, {})


def test_old_way_of_altering_knows_subscriptions_too(config: BrokerConfig) -> None:
    request = whole.AlterConfigsRequest(
        resources=(
            whole.AlterConfigsResource(
                resource_type=KIND,
                resource_name="one",
                configs=(whole.AlterableConfig(name="metrics", value="*"),),
            ),
        )
    )
    assert names(ClusterImage().apply(alter_configs(ClusterImage(), request, config=config).records), KIND)


def test_there_is_a_bound_on_subscriptions(config: BrokerConfig) -> None:
    image = ClusterImage().apply(
        ConfigRecord(resource_type=KIND, resource_name=str(number), name="metrics", value="*")
        for number in range(TELEMETRY_SUBSCRIPTIONS_MAX)
    )
    assert alter(image, config, "one more", metrics="a.") == (image, ErrorCode.INVALID_REQUEST)
    assert alter(image, config, "7", metrics="a.")[1] == ErrorCode.NONE


def test_description_has_defaults_and_what_was_set(config: BrokerConfig) -> None:
    image, _ = alter(ClusterImage(), config, "one", interval_ms="1000")
    resource = DescribeConfigsResource(resource_type=KIND, resource_name="one")
    answer = describe_configs(image, DescribeConfigsRequest(resources=(resource,)), config=config)
    found = {each.name: (each.value, each.config_source) for each in answer.results[0].configs}
    assert found == {
        "interval.ms": ("1000", ConfigSource.DYNAMIC_CLIENT_METRICS),
        "match": ("", ConfigSource.DEFAULT),
        "metrics": ("", ConfigSource.DEFAULT),
    }


def test_description_without_a_name_is_refused(config: BrokerConfig) -> None:
    resource = DescribeConfigsResource(resource_type=KIND, resource_name="")
    answer = describe_configs(ClusterImage(), DescribeConfigsRequest(resources=(resource,)), config=config)
    assert answer.results[0].error_code == ErrorCode.INVALID_REQUEST


def test_resources_are_listed_by_kind(config: BrokerConfig) -> None:
    image, _ = alter(ClusterImage(), config, "one", metrics="*")
    image = image.apply([TopicRecord(name="orders", topic_id=TopicId(bytes(15) + b"\x07"))])
    assert names(image) == [("orders", ResourceType.TOPIC), ("one", KIND)]
    assert names(image, ResourceType.TOPIC) == [("orders", ResourceType.TOPIC)]
    assert names(image, version=0) == [("one", KIND)]
    unknown = ListConfigResourcesRequest(resource_types=(99,))
    assert list_config_resources(image, unknown, version=1).error_code == ErrorCode.UNSUPPORTED_VERSION
