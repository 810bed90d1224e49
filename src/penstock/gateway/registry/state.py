"""Everything the registry knows at one place in the topic, as a value: records make the next one of it.

Whoever reads holds one state and sees nothing change under it. ``replay`` is the only way to another one, for
what was there at the start and for what came just now alike. Invariant: the highest id of a context never
falls, so an id that is free stays free only until it is given.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.gateway.registry.values.levels import DEFAULT_LEVEL, DEFAULT_MODE, CompatibilityLevel, Mode
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    bare_name,
    context_name,
    context_of,
    has_prefix,
    within,
)

Versions = Mapping[int, StoredSchema]
Config = Mapping[str, Any]
LEVEL = "compatibilityLevel"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryState:
    """All subjects, ids, settings and modes."""

    subjects: Mapping[str, Versions] = field(default_factory=dict)
    """Versions in their order, softly deleted ones included; no subject is without any."""
    ids: Mapping[tuple[str, int], tuple[StoredSchema, ...]] = field(default_factory=dict)
    """The versions that have an id, by context and id."""
    guids: Mapping[str, tuple[StoredSchema, ...]] = field(default_factory=dict)
    highest_ids: Mapping[str, int] = field(default_factory=dict)
    """By context; also of schemas that are gone."""
    configs: Mapping[str | None, Config] = field(default_factory=dict)
    modes: Mapping[str | None, Mode] = field(default_factory=dict)
    known_contexts: frozenset[str] = frozenset()

    def versions(self, subject: str, *, with_deleted: bool = False) -> list[StoredSchema]:
        """The versions of a subject, oldest first."""
        found = self.subjects.get(subject, {})
        return [found[number] for number in sorted(found) if with_deleted or not found[number].is_deleted]

    def latest(self, subject: str) -> StoredSchema | None:
        """The newest version that is not deleted."""
        versions = self.versions(subject)
        return versions[-1] if versions else None

    def version(self, subject: str, version: int) -> StoredSchema | None:
        """One version, deleted or not."""
        return self.subjects.get(subject, {}).get(version)

    def has_subject(self, subject: str, *, with_deleted: bool = False) -> bool:
        """Whether there is any version of it."""
        return any(with_deleted or not each.is_deleted for each in self.subjects.get(subject, {}).values())

    def subject_names(self, prefix: str, *, with_deleted: bool = False) -> list[str]:
        """Names of subjects in alphabetical order."""
        return [
            subject
            for subject in sorted(self.subjects)
            if has_prefix(subject, prefix) and self.has_subject(subject, with_deleted=with_deleted)
        ]

    def in_scope(self, subject: str | None) -> list[str]:
        """The subjects that a setting of ``subject`` is about: itself, those of a context, or all."""
        if subject is None:
            return [name for name in sorted(self.subjects) if context_of(name) == DEFAULT_CONTEXT]
        if bare_name(subject):
            return [subject] if subject in self.subjects else []
        return [name for name in sorted(self.subjects) if context_of(name) == context_of(subject)]

    def everything(self, *, with_deleted: bool = True) -> Iterator[StoredSchema]:
        """Every version of every subject, in the order of names and versions."""
        for subject in sorted(self.subjects):
            yield from self.versions(subject, with_deleted=with_deleted)

    def referring(self, subject: str, version: int, *, with_deleted: bool = False) -> list[StoredSchema]:
        """The schemas that refer to a version."""
        return [
            each
            for each in self.everything(with_deleted=with_deleted)
            if each.references and (subject, version) in each.referenced()
        ]

    @property
    def contexts(self) -> list[str]:
        """Names of contexts, the default one first."""
        known = set(self.known_contexts) | {context_of(subject) for subject in self.subjects}
        return [DEFAULT_CONTEXT, *sorted(known - {DEFAULT_CONTEXT})]

    def by_id(self, schema_id: int, subject: str | None = None) -> tuple[StoredSchema, ...]:
        """The versions that have an id, in the context of ``subject``.

        A name without a context may also be one in another context where it has that id: that is how a
        client finds a schema of a context it was not told of. None are returned for an unknown id.
        """
        context = context_of(subject)
        found = self.ids.get((context, schema_id), ())
        if not subject or context != DEFAULT_CONTEXT or any(each.subject == subject for each in found):
            return _first(found, subject)
        for other in self.contexts:
            meant = within(other, subject)
            elsewhere = self.ids.get((other, schema_id), ())
            if any(each.subject == meant for each in elsewhere):
                return _first(elsewhere, meant)
        return found

    def next_id(self, context: str) -> int:
        """The id of the next new schema of a context."""
        return self.highest_ids.get(context, 0) + 1

    def config_in_scope(self, subject: str | None) -> Config:
        """What holds for a subject: its own settings over those of its context and of all."""
        merged: dict[str, Any] = {LEVEL: DEFAULT_LEVEL.value}
        for scope in reversed(_scopes(subject)):
            merged |= self.configs.get(scope, {})
        return merged

    def level(self, subject: str) -> CompatibilityLevel:
        """How strictly a subject's versions are compared."""
        return CompatibilityLevel(self.config_in_scope(subject)[LEVEL])

    def mode_in_scope(self, subject: str | None) -> Mode:
        """What may be done to a subject. READONLY_OVERRIDE for all goes before what a subject says."""
        if self.modes.get(None) is Mode.READONLY_OVERRIDE:
            return Mode.READONLY_OVERRIDE
        return next((self.modes[each] for each in _scopes(subject) if each in self.modes), DEFAULT_MODE)


def _first(found: tuple[StoredSchema, ...], subject: str | None) -> tuple[StoredSchema, ...]:
    return tuple(sorted(found, key=lambda each: (each.subject != subject, each.is_deleted)))


def _scopes(subject: str | None) -> list[str | None]:
    """Where to look for a setting of a subject, nearest first."""
    context = context_of(subject)
    around: list[str | None] = [None] if context == DEFAULT_CONTEXT else [context_name(context)]
    own: list[str | None] = [] if subject is None else [subject]
    return list(dict.fromkeys([*own, *around, context_name(GLOBAL_CONTEXT)]))


class StateDraft:
    """A state on its way to the next: copies what it changes, once, and leaves the old one as it was."""

    def __init__(self, state: RegistryState) -> None:
        self._state = state
        self._subjects = dict(state.subjects)
        self._touched: set[str] = set()
        self._ids = dict(state.ids)
        self._guids = dict(state.guids)
        self.highest_ids = dict(state.highest_ids)
        self.configs = dict(state.configs)
        self.modes = dict(state.modes)
        self.contexts = set(state.known_contexts)

    def schema(self, subject: str, version: int) -> StoredSchema | None:
        """A version as it is by now."""
        return self._subjects.get(subject, {}).get(version)

    def versions(self, subject: str) -> list[StoredSchema]:
        """All versions as they are by now."""
        return list(self._subjects.get(subject, {}).values())

    def holder(self, context: str, schema_id: int) -> StoredSchema | None:
        """Somebody who has an id by now."""
        found = self._ids.get((context, schema_id), ())
        return found[0] if found else None

    def put(self, schema: StoredSchema) -> None:
        """Say what a version is."""
        self.remove(schema.subject, schema.version)
        self._own(schema.subject)[schema.version] = schema
        place = (schema.context, schema.schema_id)
        self._ids[place] = (*self._ids.get(place, ()), schema)
        self._guids[schema.guid] = (*self._guids.get(schema.guid, ()), schema)
        self.highest_ids[schema.context] = max(self.highest_ids.get(schema.context, 0), schema.schema_id)

    def remove(self, subject: str, version: int) -> None:
        """Take a version away; what its id was is not forgotten."""
        old = self.schema(subject, version)
        if old is None:
            return
        versions = self._own(subject)
        del versions[version]
        if not versions:
            del self._subjects[subject]
            self._touched.discard(subject)
        _take(self._ids, (old.context, old.schema_id), old)
        _take(self._guids, old.guid, old)

    def finished(self) -> RegistryState:
        """The next state. It is not a copy: whoever changes the draft after this changes it, too."""
        return replace(
            self._state,
            subjects=self._subjects,
            ids=self._ids,
            guids=self._guids,
            highest_ids=self.highest_ids,
            configs=self.configs,
            modes=self.modes,
            known_contexts=frozenset(self.contexts),
        )

    def _own(self, subject: str) -> dict[int, StoredSchema]:
        if subject not in self._touched:
            self._subjects[subject] = dict(self._subjects.get(subject, {}))
            self._touched.add(subject)
        owned = self._subjects[subject]
        assert isinstance(owned, dict)
        return owned


def _take(index: dict[Any, tuple[StoredSchema, ...]], key: object, schema: StoredSchema) -> None:
    left = tuple(each for each in index[key] if each is not schema)
    if left:
        index[key] = left
    else:
        del index[key]
