"""Deleting versions and subjects: softly first, which hides them, and then for good.

Nothing goes while another schema refers to it. Deleting for good also writes down the highest ids, so that no
id is given a second time when compaction has forgotten who had it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.gateway.registry.decisions.decision import Decide, Decision
from penstock.gateway.registry.decisions.permission import require_writable
from penstock.gateway.registry.errors import (
    context_not_empty,
    reference_exists,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.records import (
    TopicRecord,
    config_record,
    context_record,
    delete_subject_record,
    highest_ids_record,
    mode_record,
    schema_record,
    schema_tombstone,
)
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import DEFAULT_CONTEXT, context_of


def decide_delete_subject(subject: str, *, is_permanent: bool) -> Decide[list[int]]:
    """Delete all versions of a subject; the answer is their numbers."""

    def decide(state: RegistryState) -> Decision[list[int]]:
        if not state.has_subject(subject, with_deleted=True):
            raise subject_not_found(subject)
        if not is_permanent and not state.has_subject(subject):
            raise subject_soft_deleted(subject)
        require_writable(state, subject)
        versions = state.versions(subject, with_deleted=is_permanent)
        for version in versions:
            _require_unreferenced(state, version, but_by=subject, with_deleted=is_permanent)
        numbers = [version.version for version in versions]
        if not is_permanent:
            return Decision(answer=numbers, records=[delete_subject_record(subject, numbers[-1])])
        if state.has_subject(subject):
            raise subject_not_soft_deleted(subject)
        return Decision(answer=numbers, records=list(_gone(state, versions)))

    return decide


def decide_delete_version(subject: str, number: int | None, *, is_permanent: bool) -> Decide[int]:
    """Delete one version, the latest for None; the answer is its number."""

    def decide(state: RegistryState) -> Decision[int]:
        version = _deletable(state, subject, number, is_permanent=is_permanent)
        require_writable(state, subject)
        _require_unreferenced(state, version, with_deleted=is_permanent)
        if is_permanent:
            return Decision(answer=version.version, records=list(_gone(state, [version])))
        records = [schema_record(replace(version, is_deleted=True))]
        return Decision(answer=version.version, records=records)

    return decide


def decide_delete_context(context: str) -> Decide[None]:
    """Forget a context in which nothing is left."""

    def decide(state: RegistryState) -> Decision[None]:
        if any(context_of(subject) == context for subject in state.subjects):
            raise context_not_empty(context)
        is_known = context in state.known_contexts and context != DEFAULT_CONTEXT
        return Decision(answer=None, records=[context_record(context, is_there=False)] if is_known else [])

    return decide


def _deletable(state: RegistryState, subject: str, number: int | None, *, is_permanent: bool) -> StoredSchema:
    if not state.has_subject(subject, with_deleted=True):
        raise subject_not_found(subject)
    version = state.latest(subject) if number is None else state.version(subject, number)
    if version is None:
        raise version_not_found("latest" if number is None else number)
    if is_permanent and not version.is_deleted:
        raise version_not_soft_deleted(subject, version.version)
    if version.is_deleted and not is_permanent:
        raise version_soft_deleted(subject, version.version)
    return version


def _require_unreferenced(
    state: RegistryState, version: StoredSchema, *, with_deleted: bool, but_by: str | None = None
) -> None:
    for other in state.referring(version.subject, version.version, with_deleted=with_deleted):
        if other.subject != but_by:
            by = f"version {other.version} of subject '{other.subject}'"
            raise reference_exists(version.subject, version.version, by)


def _gone(state: RegistryState, versions: Iterable[StoredSchema]) -> Iterator[TopicRecord]:
    """Newest first, since a version may refer to an older one of its own subject."""
    leaving = list(versions)
    for version in reversed(leaving):
        yield schema_tombstone(version)
    yield from gone_settings(state, leaving)
    yield highest_ids_record(state.highest_ids)


def gone_settings(state: RegistryState, leaving: Iterable[StoredSchema]) -> Iterator[TopicRecord]:
    """Settings of subjects of which nothing is left go with them."""
    left = {subject: set(versions) for subject, versions in state.subjects.items()}
    for version in leaving:
        left[version.subject].discard(version.version)
    for subject, numbers in left.items():
        if not numbers and subject in state.modes:
            yield mode_record(subject, None)
        if not numbers and subject in state.configs:
            yield config_record(subject, None)
