"""Paths into JSON: ``$.order.items[0].sku``, ``$.tags[*]``, ``$["a name"]``; ``$key`` begins at the key."""

import re
from dataclasses import dataclass
from typing import Any

from penstock.gateway.console.filters.tokens import unquoted

_STEP = re.compile(
    r"""\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|\[(?P<any>\*)\]|\[(?P<quoted>.+?)\](?=[.\[]|$)"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonPath:
    """Steps into a document: names and positions."""

    steps: tuple[str | int | None, ...]
    """None stands for all elements."""
    is_of_key: bool

    @property
    def names(self) -> tuple[bytes, ...]:
        """The names that must stand in a document for the path to lead anywhere."""
        return tuple(step.encode() for step in self.steps if isinstance(step, str) and step.isascii())

    def values(self, document: Any) -> list[Any]:
        """Everything that the path leads to."""
        found = [document]
        for step in self.steps:
            found = [value for each in found for value in _followed(each, step)]
        return found


def parse_path(text: str) -> JsonPath:
    """A path as ``tokens`` found it."""
    is_of_key = text[:4].lower() == "$key"
    rest = text[4 if is_of_key else 1 :]
    return JsonPath(steps=tuple(map(_step, _STEP.finditer(rest))), is_of_key=is_of_key)


def _step(found: re.Match[str]) -> str | int | None:
    if found["any"]:
        return None
    if found["index"]:
        return int(found["index"])
    return found["name"] or unquoted(found["quoted"])


def _followed(value: Any, step: str | int | None) -> list[Any]:
    if isinstance(value, dict):
        if step is None:
            return list(value.values())
        return [value[step]] if isinstance(step, str) and step in value else []
    if isinstance(value, list):
        if step is None:
            return value
        return [value[step]] if isinstance(step, int) and step < len(value) else []
    return []
