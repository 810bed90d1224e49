"""What this broker was told: static values from its start, dynamic ones from the cluster's metadata."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigError, ConfigKey, unknown_key
from penstock.config.listeners import Listener, parse_listener, parse_server
from penstock.config.settings import ConfigSource, Setting, Settings, default_setting

_RULES: tuple[tuple[str, str, str, Callable[[int, int], bool]], ...] = (
    ("socket.request.max.bytes", "at least", "message.max.bytes", operator.ge),
    (
        "broker.heartbeat.interval.ms",
        "at most half of",
        "broker.session.timeout.ms",
        lambda interval, session: interval * 2 <= session,
    ),
    # Else no member of a classic group could join,
    ("group.min.session.timeout.ms", "at most", "group.max.session.timeout.ms", operator.le),
    # and every member of a consumer group would be taken out before it is heard of again.
    ("group.consumer.heartbeat.interval.ms", "below", "group.consumer.session.timeout.ms", operator.lt),
)
"""What a setting must be, compared with another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Some settings from one place: ``origin`` is for people ("in broker.yaml", "from --listen")."""

    values: Mapping[str, str]
    origin: str = ""


class BrokerConfig(Settings):
    """The broker's settings. Immutable: a dynamic change makes a new one."""

    __slots__ = ()

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Where to listen."""
        return tuple(map(parse_listener, self.strings("listeners")))

    @property
    def advertised_listeners(self) -> tuple[Listener, ...]:
        """What clients are told; empty means the listeners themselves, with the port they really got."""
        return tuple(map(parse_listener, self.strings("advertised.listeners")))

    @property
    def bootstrap_servers(self) -> tuple[Listener, ...]:
        """Brokers of the cluster to join; none for a broker that begins one, or that knows the others."""
        return tuple(map(parse_server, self.strings("controller.quorum.bootstrap.servers")))

    @property
    def data_directory(self) -> str:
        """Where the data lies."""
        return self.strings("log.dirs")[0]

    @property
    def node_id(self) -> int | None:
        """The number this broker was told to have, if it was told."""
        return None if self.source("node.id") is ConfigSource.DEFAULT else self.integer("node.id")

    def with_node_id(self, node_id: int) -> "BrokerConfig":
        """These settings for a broker that has learned its number from its directory, or from a cluster."""
        known = _static_setting(self.keys["node.id"], str(node_id), "by the data directory")
        return BrokerConfig(
            self.keys, {**self.stacks, "node.id": (known, default_setting(self.keys["node.id"]))}
        )

    def with_dynamic(
        self, *, cluster: Mapping[str, str] | None = None, broker: Mapping[str, str] | None = None
    ) -> "BrokerConfig":
        """These settings under dynamic ones, replacing any dynamic ones there were.

        Names and values come from the metadata log, where they were checked before they were written; one
        that this version does not know is left out, so that a newer broker's records cannot stop an older.
        """
        dynamic = {
            ConfigSource.DYNAMIC_BROKER: _known(broker or {}),
            ConfigSource.DYNAMIC_DEFAULT_BROKER: _known(cluster or {}),
        }
        stacks = {name: _overlay(name, dynamic) + _static_part(stack) for name, stack in self.stacks.items()}
        return BrokerConfig(self.keys, stacks)


def build_broker_config(*given: Given, keys: Mapping[str, ConfigKey] | None = None) -> BrokerConfig:
    """The static settings out of what was given, the strongest first."""
    keys = BROKER_KEYS if keys is None else keys
    stacks: dict[str, tuple[Setting, ...]] = {name: (default_setting(key),) for name, key in keys.items()}
    for place in reversed(given):
        for name, text in place.values.items():
            if name not in keys:
                raise unknown_key(name, keys, place=f" {place.origin}" if place.origin else "")
            stacks[name] = (_static_setting(keys[name], text, place.origin), default_setting(keys[name]))
    config = BrokerConfig(keys, stacks)
    check_together(config)
    return config


def check_together(config: BrokerConfig) -> None:
    """Rules that bind several settings; ``ConfigError`` when one is broken."""
    for name, rule, other, holds in _RULES:
        if name in config.keys and not holds(config.integer(name), config.integer(other)):
            raise ConfigError(
                f"Invalid value {config.integer(name)} for configuration {name}: must be {rule} {other}, "
                f"which is {config.integer(other)}."
            )
    for listener in config.advertised_listeners if "advertised.listeners" in config.keys else ():
        if listener.host in ("", "0.0.0.0", "::") or listener.port == 0:
            raise ConfigError(
                f"Invalid value {listener} for configuration advertised.listeners: must be an address that "
                "clients can connect to, not a wildcard."
            )


def _static_setting(key: ConfigKey, text: str, origin: str) -> Setting:
    try:
        value = key.parse(text)
    except ConfigError as error:
        raise ConfigError(f"{error} It was given {origin}." if origin else str(error)) from None
    return Setting(name=key.name, text=text, value=value, source=ConfigSource.STATIC_BROKER, origin=origin)


def _known(values: Mapping[str, str]) -> Mapping[str, str]:
    return {name: text for name, text in values.items() if name in BROKER_KEYS}


def _overlay(name: str, dynamic: Mapping[ConfigSource, Mapping[str, str]]) -> tuple[Setting, ...]:
    return tuple(
        Setting(name=name, text=values[name], value=BROKER_KEYS[name].parse(values[name]), source=source)
        for source, values in dynamic.items()
        if name in values
    )


def _static_part(stack: tuple[Setting, ...]) -> tuple[Setting, ...]:
    return tuple(setting for setting in stack if setting.source >= ConfigSource.STATIC_BROKER)
