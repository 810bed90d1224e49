"""Registering a schema under a subject.

A text that the subject already has keeps its version; one that its context already has keeps its id; anything
else gets the next ones, if it goes with the versions before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.gateway.registry.compatibility import conflicts, worded
from penstock.gateway.registry.decisions.decision import Decide, Decision
from penstock.gateway.registry.decisions.labels import inherited_metadata, inherited_rules
from penstock.gateway.registry.decisions.lookup import find_same, pinned
from penstock.gateway.registry.decisions.permission import require_import, require_read_write
from penstock.gateway.registry.decisions.requests import SchemaRequest
from penstock.gateway.registry.decisions.well_formed import NUMBER_MAX
from penstock.gateway.registry.errors import id_does_not_match, incompatible, invalid_schema
from penstock.gateway.registry.parsed_schemas import parse_new
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.records import (
    TopicRecord,
    context_record,
    schema_record,
    schema_tombstone,
)
from penstock.gateway.registry.values.stored_schema import StoredSchema, guid_of
from penstock.gateway.registry.values.subject_names import DEFAULT_CONTEXT, context_of
from penstock.schemas import ParsedSchema, normalized


@dataclass(frozen=True, slots=True, kw_only=True)
class Registering:
    """What is asked for."""

    subject: str
    request: SchemaRequest
    normalize: bool = False
    force: bool = False
    """Whether to skip the comparison with versions before."""


def decide_register(asked: Registering) -> Decide[StoredSchema]:
    """Make a schema a version of a subject; the answer is that version."""

    def decide(state: RegistryState) -> Decision[StoredSchema]:
        request = pinned(state, asked.subject, asked.request)
        exact = replace(asked, request=request)
        if request.schema_id is None:
            return _registered(state, exact)
        return _imported(state, exact, request.schema_id)

    return decide


def _registered(state: RegistryState, asked: Registering) -> Decision[StoredSchema]:
    subject, request = asked.subject, asked.request
    normalize = wants_normal(state, subject, asked.normalize)
    same = find_same(state, subject, request, normalize=normalize)
    if same is not None and request.version in (None, same.version):
        return Decision(answer=same)
    require_read_write(state, subject)
    parsed = _parsed(state, asked, normalize=normalize)
    before = state.versions(subject)
    metadata = inherited_metadata(state, subject, request.metadata)
    if not asked.force:
        _require_compatible(state, subject, parsed, before=before, metadata=metadata)
    draft = _Draft(
        parsed=parsed, metadata=metadata, rule_set=inherited_rules(state, subject, request.rule_set)
    )
    version = _next_version(state, subject)
    if request.version not in (None, version):
        raise invalid_schema(
            f"Version {request.version} is not one more than previous version {version - 1}."
        )
    return _decision(state, draft.stored(subject, version, _id_for(state, subject, draft)))


def _imported(state: RegistryState, asked: Registering, schema_id: int) -> Decision[StoredSchema]:
    """With an id, and perhaps a version, that another registry gave."""
    subject, request = asked.subject, asked.request
    require_import(state, subject)
    parsed = _parsed(state, asked, normalize=wants_normal(state, subject, asked.normalize))
    draft = _Draft(parsed=parsed, metadata=request.metadata, rule_set=request.rule_set)
    holder = state.ids.get((context_of(subject), schema_id), ())
    if holder and holder[0].text != parsed.text:
        raise id_does_not_match(
            f"Schema id {schema_id} belongs to another schema, version {holder[0].version} of subject "
            f"'{holder[0].subject}'; ids are kept, so import into a context of its own."
        )
    version = request.version or _next_version(state, subject)
    stored = draft.stored(subject, version, schema_id)
    known = state.version(subject, version)
    if known == stored:
        return Decision(answer=known)
    if known is not None and (known.guid, known.schema_id) != (stored.guid, stored.schema_id):
        raise id_does_not_match(
            f"Version {version} of subject '{subject}' is another schema already, with id {known.schema_id}; "
            "others may refer to it, so it cannot be replaced."
        )
    return _decision(state, stored)


def wants_normal(state: RegistryState, subject: str, asked: bool) -> bool:
    """Whether schemas are normalized: somebody asks for it, or the subject's settings do."""
    return asked or state.config_in_scope(subject).get("normalize") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A schema that is good, without its numbers."""

    parsed: ParsedSchema
    metadata: Mapping[str, Any] | None
    rule_set: Mapping[str, Any] | None

    @property
    def guid(self) -> str:
        return guid_of(self.parsed.text, self.parsed.references, self.metadata, self.rule_set)

    def stored(self, subject: str, version: int, schema_id: int) -> StoredSchema:
        return StoredSchema(
            subject=subject,
            version=version,
            schema_id=schema_id,
            kind=self.parsed.kind.value,
            text=self.parsed.text,
            references=self.parsed.references,
            metadata=self.metadata,
            rule_set=self.rule_set,
            guid=self.guid,
        )


def _parsed(state: RegistryState, asked: Registering, *, normalize: bool) -> ParsedSchema:
    request = asked.request
    parsed = parse_new(state, asked.subject, request.kind, text=request.text, references=request.references)
    return normalized(parsed) if normalize else parsed


def _require_compatible(
    state: RegistryState, subject: str, parsed: ParsedSchema, *, before: list[StoredSchema], metadata: Any
) -> None:
    found = conflicts(state, subject, parsed, earlier=before, metadata=metadata)
    if found:
        raise incompatible(subject, f"[{', '.join(worded(found))}]")


def _next_version(state: RegistryState, subject: str) -> int:
    version = max(state.subjects.get(subject, {}), default=0) + 1
    if version > NUMBER_MAX:
        raise invalid_schema(f"Subject '{subject}' has version {NUMBER_MAX}, the last that there can be.")
    return version


def _id_for(state: RegistryState, subject: str, draft: _Draft) -> int:
    """The id that the same schema has in this context already, under whatever subject, or the next one."""
    context = context_of(subject)
    same = [
        each
        for each in state.guids.get(draft.guid, ())
        if each.context == context and each.kind == draft.parsed.kind
    ]
    if same:
        return same[0].schema_id
    schema_id = state.next_id(context)
    if schema_id > NUMBER_MAX:
        raise invalid_schema(f"Context '{context}' has given id {NUMBER_MAX}, the last that there can be.")
    return schema_id


def _decision(state: RegistryState, stored: StoredSchema) -> Decision[StoredSchema]:
    return Decision(answer=stored, records=tuple(_records(state, stored)))


def _records(state: RegistryState, stored: StoredSchema) -> Iterator[TopicRecord]:
    if stored.context != DEFAULT_CONTEXT and stored.context not in state.known_contexts:
        yield context_record(stored.context)
    for old in state.versions(stored.subject, with_deleted=True):
        # A deleted version that comes back under a new number: two of one id would be one too many, as
        # long as nobody refers to the old number.
        is_replaced = old.is_deleted and old.schema_id == stored.schema_id and old.version < stored.version
        if is_replaced and not state.referring(old.subject, old.version, with_deleted=True):
            yield schema_tombstone(old)
    yield schema_record(stored)
