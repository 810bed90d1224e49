"""Rules that settings share."""

import re

from penstock.config.definition import ConfigValue, Validator

_THROTTLED_REPLICA = re.compile(r"[0-9]+:[0-9]+")


def at_least(lowest: int) -> Validator:
    """A whole number with a lower bound."""
    return Validator(f"a whole number, at least {lowest}", lambda value: _number(value) >= lowest)


def between(lowest: float, highest: float) -> Validator:
    """A number within bounds, both included."""
    return Validator(f"from {lowest} to {highest}", lambda value: lowest <= _number(value) <= highest)


def between_or(lowest: int, highest: int, *, other: int) -> Validator:
    """A number within bounds, or one value that stands for something else."""
    return Validator(
        f"from {lowest} to {highest}, or {other}",
        lambda value: lowest <= _number(value) <= highest or value == other,
    )


def one_of(*names: str) -> Validator:
    """One of a few words."""
    return Validator("one of " + ", ".join(names), lambda value: value in names)


def only(value: bool, *, reason: str) -> Validator:
    """A switch that cannot be turned, because what it switches is not there."""
    return Validator(f"{'true' if value else 'false'}: {reason}", lambda given: given is value)


def list_of(*names: str) -> Validator:
    """Any number of a few words."""
    return Validator("a list of " + ", ".join(names), lambda value: set(_strings(value)) <= set(names))


def some_of(*names: str) -> Validator:
    """At least one of a few words."""
    return Validator(
        "a list of some of " + ", ".join(names), lambda value: set() < set(_strings(value)) <= set(names)
    )


def one_item() -> Validator:
    """A list that, for now, holds exactly one thing."""
    return Validator("exactly one item", lambda value: len(_strings(value)) == 1 and value != ("",))


def throttled_replicas() -> Validator:
    """``*``, or pairs of partition and broker."""
    return Validator(
        "*, or a list of partition:broker pairs",
        lambda value: value == ("*",) or all(map(_THROTTLED_REPLICA.fullmatch, _strings(value))),
    )


def _number(value: ConfigValue) -> float:
    assert isinstance(value, int | float)
    return value


def _strings(value: ConfigValue) -> tuple[str, ...]:
    assert isinstance(value, tuple)
    return value
