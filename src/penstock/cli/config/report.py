"""How settings appear: value, default, and where the value comes from."""

from collections.abc import Sequence
from typing import Any

from penstock.cli.output import print_table
from penstock.config.settings import ConfigSource
from penstock.wire_client.configs import DescribedConfig, DescribedSource

SECRET = "(secret)"

_SOURCES = {
    ConfigSource.DYNAMIC_TOPIC: "topic",
    ConfigSource.DYNAMIC_BROKER: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER: "cluster",
    ConfigSource.STATIC_BROKER: "start",
    ConfigSource.DEFAULT: "default",
    ConfigSource.DYNAMIC_CLIENT_METRICS: "subscription",
}
"""Set on the topic, on the broker, for all brokers, at its start, nowhere, or on the subscription."""


def is_changed(config: DescribedConfig) -> bool:
    """Whether somebody has set it, anywhere."""
    return config.source not in (ConfigSource.DEFAULT, ConfigSource.UNKNOWN, -1)


def config_as_json(config: DescribedConfig) -> dict[str, Any]:
    """All that is known of a setting."""
    return {
        "name": config.name,
        "value": config.value,
        "default": _default(config),
        "source": _source_name(config.source),
        "read_only": config.is_read_only,
        "sensitive": config.is_sensitive,
        "values": [
            {"name": each.name, "value": each.value, "source": _source_name(each.source)}
            for each in config.synonyms
        ],
        "documentation": config.documentation,
    }


def print_configs(configs: Sequence[DescribedConfig], *, with_documentation: bool) -> None:
    """One line for each setting."""
    columns = ["SETTING", "VALUE", "DEFAULT", "FROM"] + ["MEANING"] * with_documentation
    rows = [
        [each.name, _shown(each, each.value), _shown(each, _default(each)) + _unit(each), _origin(each)]
        + [" ".join(each.documentation.split())] * with_documentation
        for each in configs
    ]
    print_table(columns, rows)


def _shown(config: DescribedConfig, value: str | None) -> str:
    if config.is_sensitive:
        return SECRET
    return "-" if value is None or value == "" else value


def _default(config: DescribedConfig) -> str | None:
    """The built-in value, which old brokers do not tell."""
    found = [each.value for each in config.synonyms if each.source == ConfigSource.DEFAULT]
    if found:
        return found[0]
    return config.value if config.source == ConfigSource.DEFAULT else None


def _unit(config: DescribedConfig) -> str:
    """The default's name where that has another unit: hours, where the setting has milliseconds."""
    for each in config.synonyms:
        if each.source == ConfigSource.DEFAULT and each.name.split(".")[-1] != config.name.split(".")[-1]:
            return f" ({each.name})"
    return ""


def _origin(config: DescribedConfig) -> str:
    """Where the value was set, and under which name if that is another one."""
    source = _source_name(config.source)
    first: DescribedSource | None = config.synonyms[0] if config.synonyms else None
    is_renamed = first is not None and first.name != config.name and is_changed(config)
    return f"{source} ({first.name})" if first is not None and is_renamed else source


def _source_name(source: int) -> str:
    return _SOURCES[ConfigSource(source)] if source in _SOURCES else "unknown"
