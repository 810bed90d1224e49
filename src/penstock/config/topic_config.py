"""A topic's settings: what was set on the topic, over the broker's defaults for topics."""

from collections.abc import Mapping

from penstock.config.broker_config import BrokerConfig
from penstock.config.definition import ConfigKey
from penstock.config.settings import ConfigSource, Setting, Settings, default_setting
from penstock.config.topic_keys import TOPIC_KEYS


class TopicConfig(Settings):
    """The settings one topic lives by."""

    __slots__ = ()


def topic_config(overrides: Mapping[str, str], broker: BrokerConfig) -> TopicConfig:
    """The settings of a topic that carries ``overrides``.

    Overrides come from the metadata log, where they were checked before they were written.
    """
    stacks = {name: _stack(key, overrides.get(name), broker) for name, key in TOPIC_KEYS.items()}
    return TopicConfig(TOPIC_KEYS, stacks)


def _stack(key: ConfigKey, override: str | None, broker: BrokerConfig) -> tuple[Setting, ...]:
    defaults = _broker_defaults(key, broker)
    if override is None:
        return defaults
    return (_topic_setting(key, override), *defaults)


def _topic_setting(key: ConfigKey, text: str) -> Setting:
    return Setting(name=key.name, text=text, value=key.parse(text), source=ConfigSource.DYNAMIC_TOPIC)


def _broker_defaults(key: ConfigKey, broker: BrokerConfig) -> tuple[Setting, ...]:
    """The broker's values for a topic setting, in the topic's unit; the table's default where it has none."""
    found = tuple(
        Setting(
            name=synonym.name,
            text=setting.text,
            value=synonym.convert(setting.value),
            source=setting.source,
            origin=setting.origin,
        )
        for synonym in key.synonyms
        if synonym.name in broker.keys
        for setting in broker.stack(synonym.name)
        if setting.value is not None
    )
    return found or (default_setting(key),)
