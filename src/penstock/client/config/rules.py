"""What a setting may be. A rule returns the value as it is kept, or raises naming setting, value and rule."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from penstock.client.errors import ConfigurationError

Rule = Callable[[str, Any], Any]
"""Takes a setting's name and value; the value as it is kept."""

INT32_MAX = 2**31 - 1


def setting(default: Any, rule: Rule, *, kafka: str = "", is_secret: bool = False, variable: str = "") -> Any:
    """A dataclass field with its rule and, if librdkafka has it too, the name it has there.

    The environment's ``variable``, unless it is empty, is what the field is when nobody says.
    """
    metadata = {"rule": rule, "kafka": kafka}
    if variable:
        return field(default_factory=lambda: os.environ.get(variable) or default, metadata=metadata)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, repr=not is_secret, metadata=metadata)


def refusal(name: str, value: object, allowed: str) -> ConfigurationError:
    """The one form of such errors."""
    return ConfigurationError(f"{name}={value!r} is not allowed: it must be {allowed}", setting=name)


def whole(least: int, most: int = INT32_MAX) -> Rule:
    """An integer within bounds."""

    def check(name: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise refusal(name, value, f"a whole number from {least} to {most}")
        return value

    return check


def number(least: float, most: float) -> Rule:
    """A number within bounds."""

    def check(name: str, value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise refusal(name, value, f"a number from {least:g} to {most:g}")
        return value

    return check


def one_of(kind: type[StrEnum], **others: StrEnum) -> Rule:
    """A member of an enumeration, its value as text, or one of some other names for it."""
    known = {**{str(member): member for member in kind}, **others}

    def check(name: str, value: Any) -> StrEnum:
        found = known.get(str(value).lower())
        if found is None:
            choices = ", ".join(f"{kind.__name__}.{member.name} ({str(member)!r})" for member in kind)
            raise refusal(name, value, f"one of {choices}")
        return found

    return check


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that only looks like it."""
    if not isinstance(value, bool):
        raise refusal(name, value, "True or False")
    return value


def text(name: str, value: Any) -> str:
    """Some text."""
    if not isinstance(value, str) or not value:
        raise refusal(name, value, "text that is not empty")
    return value


def function(name: str, value: Any) -> Any:
    """Something to call."""
    if not callable(value):
        raise refusal(name, value, "a function")
    return value


def optional(rule: Rule) -> Rule:
    """None, or what another rule wants."""

    def check(name: str, value: Any) -> Any:
        return None if value is None else rule(name, value)

    return check


def servers(name: str, value: Any) -> str:
    """``host:port``, several of them with commas, or a sequence of them; kept as text with commas."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, Iterable):
        raise refusal(name, value, "'host:port', several of them separated by commas, or a list of them")
    addresses = [str(address).strip() for address in given]
    if not addresses or not all(map(_is_address, addresses)):
        raise refusal(name, value, "'host:port', several of them separated by commas, or a list of them")
    return ",".join(addresses)


def kafka_settings(name: str, value: Any) -> dict[str, Any]:
    """Settings of librdkafka by its own, dotted names."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise refusal(
            name, value, "a mapping of librdkafka's settings, such as {'socket.nagle.disable': True}"
        )
    return dict(value)


def _is_address(address: str) -> bool:
    host, _, port = address.rpartition(":")
    return bool(host) and port.isdecimal() and 0 < int(port) < 65536
