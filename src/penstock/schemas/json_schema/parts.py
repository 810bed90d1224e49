"""A JSON Schema taken apart: what must hold at a place all at once, as a list of plain schemas.

References are followed and ``allOf`` is opened, so that a property that is described in three places is
described by three parts. Handlers of keywords look at the parts one by one and never see a reference.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.json_schema.documents import Document, follow
from penstock.schemas.json_schema.drafts import Draft, draft_of

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """All documents of one schema."""

    others: Mapping[str, Document]
    draft: Draft


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Part:
    """A schema at its place: true, false, or an object, in a document that its references are relative to."""

    schema: Any
    home: Document
    side: Side

    @property
    def key(self) -> int:
        """The same for the same place: documents live as long as their comparison."""
        return id(self.schema) if isinstance(self.schema, dict) else -1 - bool(self.schema)

    def get(self, word: str) -> Any:
        """The value of a keyword, None if there is none."""
        return self.schema.get(word) if isinstance(self.schema, dict) else None

    def has(self, word: str) -> bool:
        """Whether a keyword is there."""
        return isinstance(self.schema, dict) and word in self.schema

    def at(self, schema: Any) -> "Part":
        """A schema within this one."""
        return Part(schema=schema, home=self.home, side=self.side)

    def within(self, word: str) -> list["Part"]:
        """The schemas in a keyword's list."""
        return [self.at(each) for each in self.get(word) or ()]

    def member(self, word: str, name: str) -> "Part | None":
        """One of the schemas in a keyword's object."""
        members = self.get(word)
        return self.at(members[name]) if members and name in members else None

    def named(self, word: str) -> dict[str, "Part"]:
        """The schemas in a keyword's object."""
        return {name: self.at(each) for name, each in (self.get(word) or {}).items()}


def root_part(main: Document, others: Mapping[str, Document]) -> Part:
    """A whole schema."""
    side = Side(others=others, draft=draft_of(main.schema))
    return Part(schema=main.schema, home=main, side=side)


def opened(parts: Iterable[Part]) -> tuple[Part, ...]:
    """All that must hold where these hold, without references and ``allOf``."""
    found: dict[int, Part] = {}
    seen: set[int] = set()
    waiting = deque(parts)
    while waiting:
        part = waiting.popleft()
        if part.key in seen:
            continue
        seen.add(part.key)
        target = _target(part)
        if target is not None:
            waiting.append(target)
            if part.side.draft <= Draft.DRAFT_7:
                continue  # Up to draft 7 nothing counts beside a reference.
        found[part.key] = part
        waiting += part.within("allOf")
    return tuple(found.values())


def default_of(part: Part) -> bool:
    """Whether what is described has a default."""
    return any(each.has("default") for each in opened([part]))


def _target(part: Part) -> Part | None:
    reference = next((part.get(word) for word in _REFERENCES if isinstance(part.get(word), str)), None)
    if reference is None:
        return None
    try:
        home, _, schema = follow(reference, part.home, part.side.others)
    except InvalidSchema:
        return None  # A draft's own schema, which is no document of ours: compared by its address.
    return Part(schema=schema, home=home, side=part.side)


def foreign_reference(part: Part) -> str | None:
    """The address of a schema that nobody has here."""
    is_foreign = isinstance(part.get("$ref"), str) and _target(part) is None
    return str(part.get("$ref")) if is_foreign else None


def is_plain(part: Part) -> bool:
    """Whether everything that looks at the same value as a schema surely does, without alternatives."""
    return len(list(applied([part], surely=False))) == len(list(applied([part], surely=True)))


def applied(parts: Iterable[Part], *, surely: bool) -> Iterator[Part]:
    """These and all schemas that look at the same value: surely, or only if some condition holds."""
    seen: set[int] = set()
    waiting = list(opened(parts))
    while waiting:
        part = waiting.pop()
        if part.key in seen:
            continue
        seen.add(part.key)
        yield part
        if not surely:
            inner = [each for word in ("anyOf", "oneOf") for each in part.within(word)]
            inner += [part.at(part.get(word)) for word in ("if", "then", "else") if part.has(word)]
            inner += part.named("dependentSchemas").values()
            waiting += opened(inner)
