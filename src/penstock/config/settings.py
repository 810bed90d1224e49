"""Values with their pedigree, and typed access to them.

Each setting is a stack of values, the one that counts on top and the built-in default at the bottom. The
stack is what DescribeConfigs calls synonyms.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from penstock.config.definition import HIDDEN, ConfigKey, ConfigValue
from penstock.model.errors import InvariantError


class ConfigSource(IntEnum):
    """Where a value was set; the numbers are DescribeConfigs'."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_CLIENT_METRICS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value from one source."""

    #: The name it was set under; for a topic's default this is the broker-wide name.
    name: str
    #: As written there, before a change of unit. ``None`` when unset.
    text: str | None
    value: ConfigValue
    source: ConfigSource
    #: For people: the file, variable or flag.
    origin: str = ""

    def __repr__(self) -> str:
        # Settings may hold passwords, and representations end up in logs.
        return f"Setting(name={self.name!r}, source={self.source.name}, value={HIDDEN})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Settings:
    """Typed access by name. Asking for an unknown name or the wrong type is a bug, not a user's mistake."""

    keys: Mapping[str, ConfigKey]
    stacks: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)

    def stack(self, name: str) -> tuple[Setting, ...]:
        """All values given for ``name``, strongest first; never empty."""
        if name not in self.stacks:
            raise InvariantError(f"no setting is called {name}")
        return self.stacks[name]

    def value(self, name: str) -> ConfigValue:
        """The value that counts."""
        return self.stack(name)[0].value

    def text(self, name: str) -> str | None:
        """The value that counts, as text in the key's own unit."""
        return self.keys[name].format(self.value(name))

    def source(self, name: str) -> ConfigSource:
        """Where the value that counts was set."""
        return self.stack(name)[0].source

    def integer(self, name: str) -> int:
        """A whole number."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvariantError(f"{name} is not a whole number")
        return value

    def number(self, name: str) -> float:
        """A number with a fraction."""
        value = self.value(name)
        if not isinstance(value, float):
            raise InvariantError(f"{name} is not a fractional number")
        return value

    def boolean(self, name: str) -> bool:
        """A switch."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise InvariantError(f"{name} is not a switch")
        return value

    def string(self, name: str) -> str:
        """A text; empty when unset."""
        value = self.value(name)
        if not isinstance(value, str):
            raise InvariantError(f"{name} is not text")
        return value

    def strings(self, name: str) -> tuple[str, ...]:
        """A list."""
        value = self.value(name)
        if not isinstance(value, tuple):
            raise InvariantError(f"{name} is not a list")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)


def default_setting(key: ConfigKey) -> Setting:
    """The bottom of a key's stack; a topic's default goes by its broker-wide name."""
    name = key.synonyms[0].name if key.synonyms else key.name
    return Setting(name=name, text=key.format(key.default), value=key.default, source=ConfigSource.DEFAULT)
