import pytest

from penstock.config.broker_config import BrokerConfig
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigKey, ConfigType, Scope
from penstock.config.settings import ConfigSource
from penstock.config.sources import load_broker_config
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.metadata.describe_configs import describe_configs
from penstock.metadata.effective_config import broker_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

TOPIC, BROKER = 2, 4


def describe(
    image: ClusterImage,
    config: BrokerConfig,
    type: int,
    name: str,
    *keys: str,
    synonyms: bool = False,
    documentation: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=type, resource_name=name, configuration_keys=keys or None
    )
    request = DescribeConfigsRequest(
        resources=(resource,), include_synonyms=synonyms, include_documentation=documentation
    )
    in_force = broker_config_in(image, config) if "node.id" in config.keys else config
    (result,) = describe_configs(image, request, config=in_force).results
    assert (result.resource_type, result.resource_name) == (type, name)
    return result


def test_topic_is_described_in_full(image: ClusterImage, config: BrokerConfig) -> None:
    result = describe(image, config, TOPIC, "orders")
    assert (result.error_code, result.error_message) == (0, None)
    assert [each.name for each in result.configs] == sorted(TOPIC_KEYS)
    assert all(not each.read_only for each in result.configs)
    assert all(each.synonyms == () and each.documentation is None for each in result.configs)


def test_override_shows_source_synonyms_type_and_text(image: ClusterImage, config: BrokerConfig) -> None:
    result = describe(image, config, TOPIC, "orders", "retention.ms", synonyms=True, documentation=True)
    assert result.configs == (
        DescribeConfigsResourceResult(
            name="retention.ms",
            value="1000",
            read_only=False,
            config_source=ConfigSource.DYNAMIC_TOPIC,
            is_sensitive=False,
            synonyms=(
                DescribeConfigsSynonym(name="retention.ms", value="1000", source=1),
                DescribeConfigsSynonym(name="log.retention.hours", value="168", source=5),
            ),
            config_type=ConfigType.LONG,
            documentation=TOPIC_KEYS["retention.ms"].doc,
        ),
    )


def test_default_in_another_unit_is_converted(image: ClusterImage, config: BrokerConfig) -> None:
    (entry,) = describe(image, config, TOPIC, "orders", "segment.ms", synonyms=True).configs
    assert (entry.value, entry.config_source) == ("604800000", ConfigSource.DEFAULT)
    assert entry.synonyms == (DescribeConfigsSynonym(name="log.roll.hours", value="168", source=5),)


def test_static_broker_value_is_a_topics_source(image: ClusterImage) -> None:
    config = load_broker_config(flags={"message.max.bytes": "4000"})
    (entry,) = describe(image, config, TOPIC, "orders", "max.message.bytes", synonyms=True).configs
    assert (entry.value, entry.config_source) == ("4000", ConfigSource.STATIC_BROKER)
    assert [(each.name, each.source) for each in entry.synonyms] == [
        ("message.max.bytes", 4),
        ("message.max.bytes", 5),
    ]


def test_unknown_keys_are_left_out(image: ClusterImage, config: BrokerConfig) -> None:
    result = describe(image, config, TOPIC, "orders", "nonsense", "cleanup.policy")
    assert [(each.name, each.value) for each in result.configs] == [("cleanup.policy", "delete")]


def test_broker_is_described_in_full(image: ClusterImage, config: BrokerConfig) -> None:
    result = describe(image, config, BROKER, "1")
    entries = {each.name: each for each in result.configs}
    assert sorted(entries) == sorted(BROKER_KEYS)
    assert (entries["num.partitions"].value, entries["num.partitions"].config_source) == ("2", 4)
    assert entries["node.id"].read_only
    assert not entries["message.max.bytes"].read_only
    assert entries["log.retention.ms"].value is None


def test_dynamic_broker_settings_come_first(image: ClusterImage, config: BrokerConfig) -> None:
    changed = image.apply(
        [
            ConfigRecord(resource_type=BROKER, resource_name="", name="message.max.bytes", value="3"),
            ConfigRecord(resource_type=BROKER, resource_name="1", name="message.max.bytes", value="4"),
        ]
    )
    (entry,) = describe(changed, config, BROKER, "1", "message.max.bytes", synonyms=True).configs
    assert (entry.value, entry.config_source) == ("4", ConfigSource.DYNAMIC_BROKER)
    assert [(each.value, each.source) for each in entry.synonyms] == [("4", 2), ("3", 3), ("1048588", 5)]
    for_all = describe(changed, config, BROKER, "", synonyms=True)
    assert [(each.name, each.value, each.config_source) for each in for_all.configs] == [
        ("message.max.bytes", "3", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    ]
    assert [each.source for each in for_all.configs[0].synonyms] == [3]


def test_nothing_set_for_all_brokers_describes_nothing(image: ClusterImage, config: BrokerConfig) -> None:
    assert describe(image, config, BROKER, "").configs == ()


def test_secret_is_not_told(image: ClusterImage) -> None:
    node = BROKER_KEYS["node.id"]
    secret = ConfigKey(
        name="s.password", type=ConfigType.PASSWORD, default="dflt", doc="", scope=Scope.BROKER
    )
    config = load_broker_config(flags={"s.password": "hunter2"}, keys={node.name: node, secret.name: secret})
    result = describe(image, config, BROKER, "1", "s.password", synonyms=True)
    (entry,) = result.configs
    assert (entry.value, entry.is_sensitive) == (None, True)
    assert [each.value for each in entry.synonyms] == [None, None]
    assert "hunter2" not in repr(result)


@pytest.mark.parametrize(
    ("type", "name", "code", "message"),
    [
        (TOPIC, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None),
        (
            TOPIC,
            "a/b",
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name 'a/b' is illegal: it may hold only ASCII letters, digits, '.', '_' and '-'.",
        ),
        (
            BROKER,
            "7",
            ErrorCode.INVALID_REQUEST,
            "Unexpected broker id, expected 1 or empty string, but received 7",
        ),
        (32, "g", ErrorCode.INVALID_REQUEST, "Unsupported resource type: 32"),
    ],
)
def test_resource_that_is_not_there_is_refused(
    image: ClusterImage, config: BrokerConfig, type: int, name: str, code: ErrorCode, message: str | None
) -> None:
    result = describe(image, config, type, name)
    assert (result.error_code, result.error_message, result.configs) == (code, message, ())
