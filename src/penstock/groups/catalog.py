"""The topics there are at the moment, and which of them a regular expression means.

Topics are replaced as a whole whenever one of them changes. Groups remember at which version they looked
last, and look again with the next heartbeat of a member: nothing has to be done for groups that are asleep.
What a pattern means is worked out once for all groups of a shard, and then only for names that are new.
Internal topics are never meant: a group that read its own commits would never come to an end.
"""

from collections import OrderedDict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from penstock.groups.topics import Topics
from penstock.model.limits import PATTERNS_PER_SHARD_MAX
from penstock.model.names import INTERNAL_TOPICS
from penstock.model.patterns import CompilePattern, Matcher


@dataclass(slots=True)
class _Resolved:
    """A pattern, what it was compared with, and what it matched."""

    matches: Matcher
    seen: AbstractSet[str]
    topics: frozenset[str]


class TopicCatalog:
    """The topics of one shard's broker."""

    __slots__ = ("_compile_pattern", "_names", "_patterns", "topics", "version")

    def __init__(self, topics: Topics, compile_pattern: CompilePattern) -> None:
        self.topics = topics
        #: Grows whenever they are replaced.
        self.version = 0
        self._compile_pattern = compile_pattern
        #: Of this version; made when a pattern asks for them first.
        self._names: frozenset[str] | None = None
        #: Those used last are last.
        self._patterns: OrderedDict[str, _Resolved] = OrderedDict()

    def replace(self, topics: Topics) -> None:
        """From now on these are the topics there are."""
        self.topics = topics
        self.version += 1
        self._names = None

    def resolve(self, pattern: str) -> frozenset[str]:
        """The names that a pattern means; ``ApiError`` if it is none."""
        names = self._visible_names()
        resolved = self._patterns.get(pattern)
        if resolved is None:
            resolved = _Resolved(self._compile_pattern(pattern), frozenset(), frozenset())
            self._remember(pattern, resolved)
        self._patterns.move_to_end(pattern)
        if resolved.seen is not names:
            fresh = filter(resolved.matches, names - resolved.seen)
            resolved.topics = (resolved.topics & names).union(fresh)
            resolved.seen = names
        return resolved.topics

    def _visible_names(self) -> frozenset[str]:
        if self._names is None:
            self._names = frozenset(self.topics.names()) - INTERNAL_TOPICS
        return self._names

    def _remember(self, pattern: str, resolved: _Resolved) -> None:
        self._patterns[pattern] = resolved
        if len(self._patterns) > PATTERNS_PER_SHARD_MAX:
            self._patterns.popitem(last=False)
