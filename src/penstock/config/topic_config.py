"""A topic's settings: what was set on the topic, over the broker's defaults for topics."""

from collections.abc import Mapping
from functools import lru_cache

from penstock.config.broker_config import BrokerConfig
from penstock.config.definition import ConfigKey
from penstock.config.settings import ConfigSource, Setting, Settings, default_setting
from penstock.config.topic_keys import TOPIC_KEYS

BROKER_CONFIGS_KEPT = 4
"""A broker has one at a time; a few more, since a change makes a new one while the old is in use."""


class TopicConfig(Settings):
    """The settings one topic lives by."""

    __slots__ = ()


def topic_config(overrides: Mapping[str, str], broker: BrokerConfig) -> TopicConfig:
    """The settings of a topic that carries ``overrides``.

    Overrides come from the metadata log, where they were checked before they were written; one that this
    version does not know is left out, so that a newer broker's records cannot stop an older.
    """
    defaults = _defaults(broker)
    if not overrides:
        return defaults
    stacks = dict(defaults.stacks)
    for name, text in overrides.items():
        if name in TOPIC_KEYS:
            stacks[name] = (_topic_setting(TOPIC_KEYS[name], text), *stacks[name])
    return TopicConfig(TOPIC_KEYS, stacks)


@lru_cache(maxsize=BROKER_CONFIGS_KEPT)
def _defaults(broker: BrokerConfig) -> TopicConfig:
    """The settings of a topic on which nothing was set: most topics share them."""
    return TopicConfig(TOPIC_KEYS, {name: _broker_defaults(key, broker) for name, key in TOPIC_KEYS.items()})


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
