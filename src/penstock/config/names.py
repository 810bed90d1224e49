"""How settings are spelled, and that each is given once."""

from collections.abc import Iterable
from typing import TypeVar

from penstock.config.definition import ConfigError

Value = TypeVar("Value")


def normalise(name: str) -> str:
    """A setting's dotted name from any accepted spelling (``log_retention_ms``, ``LOG_RETENTION_MS``)."""
    return name.strip().replace("_", ".").lower()


def unique(pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """A mapping of ``pairs``; ``ConfigError`` when a name comes twice."""
    found: dict[str, Value] = {}
    for name, value in pairs:
        if name in found:
            raise ConfigError(f"{name} is given twice.")
        found[name] = value
    return found
