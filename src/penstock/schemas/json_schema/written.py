"""What a writer's schema says about the values at a place: everything that may be relied on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from penstock.schemas.json_schema.parts import Part, opened
from penstock.schemas.json_schema.values import ALL_TYPES, type_of, types_of, value_key

Key = tuple[frozenset[int], frozenset[int], frozenset[tuple[int, str]], frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class Written:
    """All ``parts`` hold, none of ``excluded`` does, and the value is of one of ``only`` these types.

    ``chosen`` are the alternatives of which one has been taken: its parts are among these.
    """

    parts: tuple[Part, ...]
    excluded: tuple[Part, ...] = ()
    chosen: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    only: frozenset[str] = ALL_TYPES

    @cached_property
    def key(self) -> Key:
        """The same for the same knowledge."""
        return (
            frozenset(part.key for part in self.parts),
            frozenset(part.key for part in self.excluded),
            self.chosen,
            self.only,
        )

    def types(self) -> frozenset[str]:
        """The types that a value may have."""
        return self._types

    @cached_property
    def _types(self) -> frozenset[str]:
        types = self.only.intersection(*(types_of(part.get("type")) for part in self.parts))
        values = self._enumerated
        return types if values is None else types & frozenset(map(type_of, values))

    def values(self) -> list[Any] | None:
        """The values that there may be, if they are listed."""
        values, types = self._enumerated, self.types()
        if values is not None:
            return [value for value in values if type_of(value) in types]
        listed: dict[str, list[Any]] = {"boolean": [True, False], "null": [None]}
        if types and types <= listed.keys():
            return [value for name in sorted(types) for value in listed[name]]
        return None

    def is_nothing(self) -> bool:
        """Whether no value can be written at all."""
        return any(part.schema is False for part in self.parts) or not self.types() or self.values() == []

    def all(self, word: str) -> list[Any]:
        """The values of a keyword in all parts that have it."""
        return [part.schema[word] for part in self.parts if part.has(word)]

    def least(self, word: str) -> Any:
        """The smallest value of a keyword, None if no part has it."""
        return min(self.all(word), default=None)

    def greatest(self, word: str) -> Any:
        """The largest value of a keyword, None if no part has it."""
        return max(self.all(word), default=None)

    def cases(self) -> "list[Written] | None":
        """The same knowledge in several cases, one of which always holds; None if there is only one."""
        for part in self.parts:
            for word in ("oneOf", "anyOf"):
                if part.has(word) and (part.key, word) not in self.chosen:
                    return list(self._alternatives(part, word))
        return None

    def by_type(self) -> "list[Written]":
        """A case for each type."""
        return [replace(self, only=frozenset({name})) for name in sorted(self.types())]

    def _alternatives(self, part: Part, word: str) -> "Iterator[Written]":
        branches = part.within(word)
        chosen = self.chosen | {(part.key, word)}
        for index, branch in enumerate(branches):
            others = branches[:index] + branches[index + 1 :] if word == "oneOf" else []
            yield replace(
                self,
                parts=opened([*self.parts, branch]),
                excluded=(*self.excluded, *others),
                chosen=chosen,
            )

    @cached_property
    def _enumerated(self) -> list[Any] | None:
        lists = self.all("enum") + [[value] for value in self.all("const")]
        if not lists:
            return None
        keys = [{value_key(value) for value in each} for each in lists[1:]]
        return [value for value in lists[0] if all(value_key(value) in each for each in keys)]


def written(parts: Iterable[Part]) -> Written:
    """What is known where these schemas hold."""
    return Written(parts=opened(parts))
