"""Schemas parsed with everything they refer to, and remembered, since they are compared again and again.

What a schema refers to cannot change while it refers to it (a version has one text, and cannot be deleted for
good), so a parsed schema stays true.
"""

import functools
from collections.abc import Mapping, Sequence

from penstock.gateway.registry.errors import invalid_schema
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import context_of, within
from penstock.schemas import InvalidSchema, ParsedSchema, Reference, SchemaKind, parse

KEPT_MAX = 2_000
DEPTH_MAX = 50
"""Of references to references."""

Resolved = tuple[tuple[str, str], ...]


def parse_new(
    state: RegistryState, subject: str, kind: str, *, text: str, references: Sequence[Reference]
) -> ParsedSchema:
    """A schema that somebody brings for ``subject``; refuses what is not valid (42201)."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise invalid_schema(f"The schema is not text: {error}.") from error
    if not text.strip():
        raise invalid_schema("The schema is empty.")
    resolved = resolve(state, subject, references)
    try:
        return _parsed(schema_kind(kind), text, tuple(references), tuple(resolved.items()))
    except InvalidSchema as error:
        raise invalid_schema(f"Invalid schema of type {kind} for subject '{subject}': {error}") from error


def parse_stored(state: RegistryState, schema: StoredSchema) -> ParsedSchema:
    """A version as it is kept."""
    return parse_new(state, schema.subject, schema.kind, text=schema.text, references=schema.references)


def schema_kind(name: str) -> SchemaKind:
    """The kind of that name; refuses others (42201)."""
    try:
        return SchemaKind(name)
    except ValueError:
        known = ", ".join(SchemaKind)
        raise invalid_schema(f"Invalid schema type {name}; this registry knows {known}.") from None


def resolve(state: RegistryState, subject: str, references: Sequence[Reference]) -> dict[str, str]:
    """The texts of everything that is referred to, directly or not, by the names in references."""
    found: dict[str, str] = {}
    _collect(state, context_of(subject), references, found=found, depth=0)
    return found


def _collect(
    state: RegistryState, context: str, references: Sequence[Reference], *, found: dict[str, str], depth: int
) -> None:
    if depth > DEPTH_MAX:
        raise invalid_schema(f"References lead to references more than {DEPTH_MAX} times.")
    for reference in references:
        if reference.name in found:
            continue
        target = _target(state, context, reference)
        found[reference.name] = target.text
        _collect(state, target.context, target.references, found=found, depth=depth + 1)


def _target(state: RegistryState, context: str, reference: Reference) -> StoredSchema:
    subject = within(context, reference.subject)
    target = state.version(subject, reference.version)
    if target is None:
        raise invalid_schema(
            f"Reference {reference.name!r} leads to version {reference.version} of subject '{subject}', "
            "which is not there; register it first."
        )
    return target


@functools.lru_cache(maxsize=KEPT_MAX)
def _parsed(
    kind: SchemaKind, text: str, references: tuple[Reference, ...], resolved: Resolved
) -> ParsedSchema:
    texts: Mapping[str, str] = dict(resolved)
    return parse(kind, text, references=references, resolve=texts)
