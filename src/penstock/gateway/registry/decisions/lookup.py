"""Finding a schema under a subject by what it says."""

from dataclasses import replace

from penstock.gateway.registry.decisions.requests import SchemaRequest
from penstock.gateway.registry.parsed_schemas import parse_new, parse_stored
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import context_of, within
from penstock.schemas import ParsedSchema, SchemaKind

LATEST = -1


def find_same(
    state: RegistryState, subject: str, request: SchemaRequest, *, normalize: bool, with_deleted: bool = False
) -> StoredSchema | None:
    """The newest version that says the same, whatever its metadata and rules if the request has none."""
    request = pinned(state, subject, request)
    versions = state.versions(subject, with_deleted=with_deleted)
    if not versions:
        return None
    parsed = parse_new(state, subject, request.kind, text=request.text, references=request.references)
    for version in reversed(versions):
        if _has_same_labels(version, request) and is_same(state, parsed, version, normalize=normalize):
            return version
    return None


def pinned(state: RegistryState, subject: str, request: SchemaRequest) -> SchemaRequest:
    """The same request with version -1 of a reference, the latest, replaced by what that is now."""
    if all(each.version != LATEST for each in request.references):
        return request
    exact = []
    for each in request.references:
        latest = state.latest(within(context_of(subject), each.subject)) if each.version == LATEST else None
        exact.append(replace(each, version=latest.version) if latest else each)
    return replace(request, references=tuple(exact))


def is_same(state: RegistryState, parsed: ParsedSchema, version: StoredSchema, *, normalize: bool) -> bool:
    """Whether a version says what ``parsed`` says."""
    if version.kind != parsed.kind or version.kind not in set(SchemaKind):
        return False
    if version.text == parsed.text and version.references == parsed.references:
        return True
    return parse_stored(state, version).canonical(normalize) == parsed.canonical(normalize)


def _has_same_labels(version: StoredSchema, request: SchemaRequest) -> bool:
    is_same_metadata = request.metadata is None or request.metadata == version.metadata
    return is_same_metadata and (request.rule_set is None or request.rule_set == version.rule_set)
