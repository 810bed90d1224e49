import pytest

from penstock.config.broker_config import build_broker_config
from penstock.config.settings import ConfigSource
from penstock.config.sources import load_broker_config
from penstock.config.topic_config import topic_config
from penstock.config.topic_keys import TOPIC_KEYS


def test_topic_without_overrides_takes_every_default() -> None:
    config = topic_config({}, build_broker_config())
    assert {name: config.value(name) for name in config} == {
        name: key.default for name, key in TOPIC_KEYS.items()
    }
    assert {config.source(name) for name in config} == {ConfigSource.DEFAULT}


def test_override_lies_on_top_of_broker_values() -> None:
    broker = load_broker_config(flags={"log.retention.minutes": "2"})
    config = topic_config({"retention.ms": "99"}, broker)
    assert config.integer("retention.ms") == 99
    assert [(s.name, s.text, s.value, s.source) for s in config.stack("retention.ms")] == [
        ("retention.ms", "99", 99, ConfigSource.DYNAMIC_TOPIC),
        ("log.retention.minutes", "2", 120_000, ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "168", 604_800_000, ConfigSource.DEFAULT),
    ]


@pytest.mark.parametrize(
    ("flags", "retention"),
    [
        ({}, 168 * 3_600_000),
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_retention_takes_the_finest_unit_that_is_set(flags: dict[str, str], retention: int) -> None:
    config = topic_config({}, load_broker_config(flags=flags))
    assert config.integer("retention.ms") == retention
    assert config.text("retention.ms") == str(retention)


def test_broker_change_reaches_topics_without_override() -> None:
    broker = build_broker_config().with_dynamic(cluster={"log.cleanup.policy": "compact,delete"})
    assert topic_config({}, broker).strings("cleanup.policy") == ("compact", "delete")
    assert topic_config({"cleanup.policy": "delete"}, broker).strings("cleanup.policy") == ("delete",)


def test_default_of_a_setting_without_broker_key_goes_by_kafkas_broker_name() -> None:
    config = topic_config({}, build_broker_config())
    assert config.stack("delete.retention.ms")[0].name == "log.cleaner.delete.retention.ms"
    assert config.stack("remote.storage.enable")[0].name == "remote.storage.enable"


def test_override_from_the_future_is_left_out() -> None:
    config = topic_config({"not.invented.yet": "1", "retention.ms": "7"}, build_broker_config())
    assert config.integer("retention.ms") == 7
    assert sorted(config) == sorted(TOPIC_KEYS)
