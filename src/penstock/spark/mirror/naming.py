"""Which topics and groups a mirror means, and what the copies of topics are called."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from penstock.model.errors import UsageError

PLACE = "{topic}"
INTERNAL_PREFIX = "__"
OWN_GROUPS_PREFIX = "penstock-mirror"
"""What the groups of mirrors themselves begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """The name of a copy: ``{topic}`` stands for that of the original."""

    template: str = PLACE

    def __post_init__(self) -> None:
        if self.template.count(PLACE) != 1:
            raise UsageError(
                f"The name of copies {self.template!r} must have {PLACE} in it once, as in 'eu.{PLACE}'."
            )

    @property
    def prefix(self) -> str:
        """What stands before the name of the original."""
        return self.template.partition(PLACE)[0]

    @property
    def suffix(self) -> str:
        """What stands behind the name of the original."""
        return self.template.partition(PLACE)[2]

    def copy_of(self, topic: str) -> str:
        """The name at the target."""
        return f"{self.prefix}{topic}{self.suffix}"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Topics by their whole names or by a pattern, without internal ones; groups by a pattern."""

    topics: tuple[str, ...] = ()
    topic_pattern: str | None = None
    group_pattern: str | None = ".*"
    """None for no group."""

    def __post_init__(self) -> None:
        if bool(self.topics) == (self.topic_pattern is not None):
            raise UsageError("Name the topics to mirror, or a pattern for their names, and not both.")
        internal = [name for name in self.topics if name.startswith(INTERNAL_PREFIX)]
        if internal:
            raise UsageError(f"Topic {internal[0]!r} is an internal one: each cluster has its own.")
        for what, pattern in (("topics", self.topic_pattern), ("groups", self.group_pattern)):
            _check_pattern(what, pattern)

    @cached_property
    def subscribe_pattern(self) -> str:
        """As the data source takes it."""
        chosen = "|".join(map(re.escape, self.topics)) if self.topics else self.topic_pattern
        return f"(?!{INTERNAL_PREFIX})(?:{chosen})"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.subscribe_pattern)

    def topics_of(self, names: Iterable[str]) -> list[str]:
        """Those of the topics that are meant."""
        return sorted(name for name in names if self._compiled.fullmatch(name))

    def means_group(self, name: str) -> bool:
        """Whether the offsets of a group are carried over."""
        if self.group_pattern is None or name.startswith(OWN_GROUPS_PREFIX):
            return False
        return re.fullmatch(self.group_pattern, name) is not None


def _check_pattern(what: str, pattern: str | None) -> None:
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"The pattern of {what} {pattern!r} is no regular expression: {error}.") from error
