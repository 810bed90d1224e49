"""What is looked for in logs, and whether an entry is that.

All conditions must hold. Text is found literally, whatever its case, in the event and its fields; a pattern
is one of RE2, which takes no longer than what it is matched with is long.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.client.logs.entry import LEVELS, FoundEntry
from penstock.model.errors import UsageError

LIMIT = 1_000

Says = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """Everything that may be asked of entries."""

    text: str = ""
    #: A regular expression, in place of the text.
    pattern: str | None = None
    #: This level, or a more alarming one.
    level: str = LEVELS[0]
    since_ms: int | None = None
    until_ms: int | None = None
    brokers: frozenset[int] = frozenset()
    #: A part of the component's name.
    component: str = ""
    #: A part of the event's name.
    event: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    #: How many entries at most, the newest.
    limit: int = LIMIT


class LogFilter:
    """A query made ready for many entries; ``UsageError`` for one that makes no sense."""

    def __init__(self, query: LogQuery) -> None:
        if query.text and query.pattern is not None:
            raise UsageError("A text and a pattern exclude each other.")
        self._query = query
        self._levels = frozenset(LEVELS[_rank(query.level) :])
        self._component = query.component.casefold()
        self._event = query.event.casefold()
        self._says = _says(query)

    def may_admit(self, headers: Mapping[str, str]) -> bool:
        """Whether an entry with these headers is worth being looked at; True where they do not say."""
        return (
            headers.get("level", "critical") in self._levels
            and self._component in headers.get("component", self._component).casefold()
            and self._event in headers.get("event", self._event).casefold()
            and (not self._query.brokers or self._is_of_broker(headers.get("node")))
        )

    def admits(self, entry: FoundEntry) -> bool:
        """Whether the entry is one of those looked for."""
        query = self._query
        return (
            entry.level in self._levels
            and (query.since_ms is None or entry.time_ms >= query.since_ms)
            and (query.until_ms is None or entry.time_ms < query.until_ms)
            and (not query.brokers or entry.node in query.brokers)
            and self._component in entry.component.casefold()
            and self._event in entry.event.casefold()
            and all(has_field(entry.fields, name, wanted) for name, wanted in query.fields.items())
            and self._says(_words_of(entry))
        )

    def _is_of_broker(self, node: str | None) -> bool:
        return node is None or not node.isdecimal() or int(node) in self._query.brokers


def has_field(fields: Mapping[str, Any], name: str, wanted: str) -> bool:
    """Whether a field has a value, or is a list that holds it.

    ``partition`` may be a name (``orders-3``) or its number alone, and is looked for in ``partitions`` too.
    """
    values = [fields[each] for each in (name, f"{name}s") if each in fields]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    texts = [shown(item) for item in flat]
    if name == "partition" and wanted.isdecimal():
        texts += [text.rpartition("-")[2] for text in texts]
    return wanted in texts


def shown(value: Any) -> str:
    """A field's value as people write it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _words_of(entry: FoundEntry) -> str:
    return "\n".join([entry.event, *(f"{name}={shown(value)}" for name, value in entry.fields.items())])


def _rank(level: str) -> int:
    names = {**{name: name for name in LEVELS}, "warn": "warning", "fatal": "critical"}
    if level.lower() not in names:
        raise UsageError(f"Level {level!r} is none of {', '.join(LEVELS)}.")
    return LEVELS.index(names[level.lower()])


def _says(query: LogQuery) -> Says:
    if query.pattern is not None:
        return _matching(query.pattern)
    needle = query.text.casefold()
    return lambda words: needle in words.casefold()


def _matching(pattern: str) -> Says:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise UsageError(f"{pattern!r} is no regular expression of RE2: {reason}.") from error
    return lambda words: compiled.search(words) is not None
