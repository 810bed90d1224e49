"""Settings as JSON, as several pages show them: what holds, who said so, and what would hold otherwise."""

from collections.abc import Iterable
from typing import Any

from penstock.wire_client.configs import DescribedConfig

SOURCES = {
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "file",
    5: "default",
    6: "broker logger",
    7: "client metrics",
    8: "group",
}
"""Kafka's numbers, in words for people."""

OVERRIDING = frozenset({1, 2, 3, 8})
"""Set by somebody while the cluster ran."""


def configs_as_json(configs: Iterable[DescribedConfig]) -> list[dict[str, Any]]:
    """Every setting, by name."""
    return [_config(each) for each in configs]


def _config(config: DescribedConfig) -> dict[str, Any]:
    is_overridden = config.source in OVERRIDING
    return {
        "name": config.name,
        "value": config.value,
        "source": SOURCES.get(config.source, f"source {config.source}"),
        "is_overridden": is_overridden,
        "otherwise": _otherwise(config) if is_overridden else None,
        "is_read_only": config.is_read_only,
        "is_sensitive": config.is_sensitive,
        "documentation": config.documentation,
    }


def _otherwise(config: DescribedConfig) -> dict[str, Any] | None:
    """What would hold if this were not set: often a setting of another name, and in another unit."""
    weaker = [each for each in config.synonyms if each.source != config.source and each.value is not None]
    return {"name": weaker[0].name, "value": weaker[0].value} if weaker else None
