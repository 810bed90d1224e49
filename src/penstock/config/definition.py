"""What a setting is: its name, type, default, rule and meaning.

Text is the common form: files, the environment, flags and the wire all carry text, and ``ConfigKey.parse``
is the only way from there to a typed value. An error names the key, the value and what would be valid.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeAlias

from penstock.model.errors import UsageError

ConfigValue: TypeAlias = bool | int | float | str | tuple[str, ...] | None

HIDDEN = "[hidden]"
"""Shown in place of a secret, wherever a value would be shown."""

SHORT_MAX = 2**15 - 1
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


class ConfigType(IntEnum):
    """Types of settings; the number is the one DescribeConfigs carries (KIP-569)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    PASSWORD = 9


class Scope(StrEnum):
    """Whose setting it is."""

    BROKER = "broker"
    TOPIC = "topic"
    CLIENT_METRICS = "client-metrics"


class ConfigError(UsageError):
    """A setting that cannot be taken as given."""


@dataclass(frozen=True, slots=True)
class Validator:
    """A rule beyond the type. ``expected`` completes the sentence "must be …"."""

    expected: str
    accepts: Callable[[ConfigValue], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synonym:
    """A broker-wide setting that gives a topic setting its default."""

    name: str
    #: What one unit of the broker's setting is in units of the topic's: hours become milliseconds.
    factor: int = 1

    def convert(self, value: ConfigValue) -> ConfigValue:
        """The broker's value in the topic's unit; negative numbers are words ("unlimited"), not amounts."""
        if self.factor == 1 or not isinstance(value, int):
            return value
        return value * self.factor if value >= 0 else -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One line of the table of settings."""

    name: str
    type: ConfigType
    default: ConfigValue
    doc: str
    scope: Scope
    validator: Validator | None = None
    #: May be changed while the broker runs, by AlterConfigs.
    dynamic: bool = False
    #: The module that asks for the value; empty for topic settings that are kept and shown, not acted on.
    read_by: str = ""
    #: Topic settings only: where the default comes from, strongest first.
    synonyms: tuple[Synonym, ...] = ()

    @property
    def is_sensitive(self) -> bool:
        """Whether the value must never be shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """The typed value of ``text``; ``ConfigError`` when it breaks the type or the rule."""
        value = _PARSERS[self.type](text.strip())
        if value is None or (self.validator is not None and not self.validator.accepts(value)):
            raise ConfigError(self._complaint(text))
        return value

    def format(self, value: ConfigValue) -> str | None:
        """The text that ``parse`` reads back as ``value``."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        return None if value is None else str(value)

    @property
    def expected(self) -> str:
        """What would be valid, as words that follow "must be"."""
        return self.validator.expected if self.validator is not None else _EXPECTED[self.type]

    def _complaint(self, text: str) -> str:
        shown = HIDDEN if self.is_sensitive else text
        return f"Invalid value {shown} for configuration {self.name}: must be {self.expected}."


def unknown_key(name: str, known: Iterable[str], *, place: str = "") -> ConfigError:
    """The error for a name that is in no table, with the nearest name that is."""
    from difflib import get_close_matches  # only a mistake pays for the import

    nearest = get_close_matches(name, sorted(known), n=1)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    return ConfigError(f"Unknown configuration {name}{place}.{hint}")


def _parse_boolean(text: str) -> ConfigValue:
    return {"true": True, "false": False}.get(text.lower())


def _parse_string(text: str) -> ConfigValue:
    return text


def _whole_number(limit: int) -> Callable[[str], ConfigValue]:
    def parse(text: str) -> ConfigValue:
        digits = text[1:] if text[:1] in ("-", "+") else text
        # Only ASCII digits: int() alone would also take "1_000" and digits of other scripts.
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 19:
            return None
        value = int(text)
        return value if -limit - 1 <= value <= limit else None

    return parse


def _parse_double(text: str) -> ConfigValue:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) != float("inf") and value == value else None


def _parse_list(text: str) -> ConfigValue:
    return tuple(item.strip() for item in text.split(",")) if text else ()


_PARSERS: dict[ConfigType, Callable[[str], ConfigValue]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: _parse_string,
    ConfigType.INT: _whole_number(INT_MAX),
    ConfigType.SHORT: _whole_number(SHORT_MAX),
    ConfigType.LONG: _whole_number(LONG_MAX),
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: _parse_list,
    ConfigType.PASSWORD: _parse_string,
}

_EXPECTED: dict[ConfigType, str] = {
    ConfigType.BOOLEAN: "true or false",
    ConfigType.STRING: "text",
    ConfigType.INT: f"a whole number from {-INT_MAX - 1} to {INT_MAX}",
    ConfigType.SHORT: f"a whole number from {-SHORT_MAX - 1} to {SHORT_MAX}",
    ConfigType.LONG: f"a whole number from {-LONG_MAX - 1} to {LONG_MAX}",
    ConfigType.DOUBLE: "a number",
    ConfigType.LIST: "a list separated by commas",
    ConfigType.PASSWORD: "text",
}
