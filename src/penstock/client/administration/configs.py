"""Settings of topics, brokers and groups: described, and altered one by one."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from confluent_kafka.admin import AlterConfigOpType, ConfigResource, ConfigSource, ResourceType
from confluent_kafka.admin import ConfigEntry as RawConfigEntry

from penstock.client.administration.requests import AdminRequests
from penstock.client.administration.results import ConfigEntry
from penstock.client.errors import ConfigurationError


class ConfigKind(StrEnum):
    """Whose settings."""

    TOPIC = "topic"
    BROKER = "broker"
    GROUP = "group"


class ConfigAdmin(AdminRequests):
    """The part of an administrator that is about settings."""

    def describe_config(
        self, name: str | int, *, kind: ConfigKind | str = ConfigKind.TOPIC, timeout: float | None = None
    ) -> dict[str, ConfigEntry]:
        """All settings of a topic, broker or group, by their names."""
        resource = ConfigResource(_raw_kind(kind), str(name))
        answers = self._ask_each(
            f"describe the settings of {kind} {name}",
            lambda seconds: self._raw().describe_configs([resource], request_timeout=seconds),
            timeout,
        )
        return {key: _entry(entry) for key, entry in answers[resource].items()}

    def alter_config(
        self,
        name: str | int,
        changes: Mapping[str, str | int | float | bool | None] | None = None,
        *,
        kind: ConfigKind | str = ConfigKind.TOPIC,
        append: Mapping[str, str] | None = None,
        subtract: Mapping[str, str] | None = None,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Change some settings and leave the others: None takes a setting back to its default.

        ``append`` and ``subtract`` change settings that are lists.
        """
        entries = [*_changes(changes or {}), *_operations(append, AlterConfigOpType.APPEND)]
        entries += _operations(subtract, AlterConfigOpType.SUBTRACT)
        if not entries:
            raise ConfigurationError(f"Cannot alter the settings of {kind} {name}: nothing is to be changed")
        resource = ConfigResource(_raw_kind(kind), str(name), incremental_configs=entries)
        self._ask_each(
            f"alter the settings of {kind} {name}",
            lambda seconds: self._raw().incremental_alter_configs(
                [resource], validate_only=validate_only, request_timeout=seconds
            ),
            timeout,
        )


def _raw_kind(kind: ConfigKind | str) -> Any:
    if kind not in list(ConfigKind):
        choices = ", ".join(f"ConfigKind.{member.name}" for member in ConfigKind)
        raise ConfigurationError(f"kind={kind!r} is not allowed: it must be {choices}", setting="kind")
    return ResourceType[ConfigKind(kind).name]


def _changes(changes: Mapping[str, Any]) -> Iterable[Any]:
    for name, value in changes.items():
        if value is None:
            yield RawConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE)
        else:
            yield from _operations({name: value}, AlterConfigOpType.SET)


def _operations(values: Mapping[str, Any] | None, operation: Any) -> list[Any]:
    return [
        RawConfigEntry(
            name,
            str(value).lower() if isinstance(value, bool) else str(value),
            incremental_operation=operation,
        )
        for name, value in (values or {}).items()
    ]


def _entry(raw: Any) -> ConfigEntry:
    source = raw.source.name if hasattr(raw.source, "name") else _source_name(raw.source)
    return ConfigEntry(
        name=raw.name,
        value=raw.value,
        source=source,
        is_default=raw.is_default,
        is_read_only=raw.is_read_only,
        is_sensitive=raw.is_sensitive,
    )


def _source_name(number: int) -> str:
    return str(ConfigSource(number).name)
