"""``/subjects``: names, versions, registering, looking up, deleting."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock.gateway.registry.api.bodies import SchemaBody, formatted, registered_body, schema_body
from penstock.gateway.registry.api.routes import (
    Deleted,
    Format,
    Limit,
    Normalize,
    Offset,
    Permanent,
    new_routes,
    page,
    subject_named,
    version_number,
    writable_subject,
)
from penstock.gateway.registry.decisions.deleting import decide_delete_subject, decide_delete_version
from penstock.gateway.registry.decisions.lookup import find_same
from penstock.gateway.registry.decisions.registering import Registering, decide_register, wants_normal
from penstock.gateway.registry.errors import schema_not_found, subject_not_found, version_not_found
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import ANY_CONTEXT

Prefix = Annotated[str, Query(alias="subjectPrefix", description="`:*:` stands for every context.")]
DeletedOnly = Annotated[bool, Query(alias="deletedOnly", description="Nothing but what is deleted softly.")]
Force = Annotated[bool, Query(description="Without comparing with versions before.")]


def subject_routes(registry: SchemaRegistry) -> APIRouter:
    """Listing subjects and their versions."""
    routes = new_routes("subjects")

    @routes.get("/subjects")
    def list_subjects(
        prefix: Prefix = ANY_CONTEXT,
        deleted: Deleted = False,
        deleted_only: DeletedOnly = False,
        offset: Offset = 0,
        limit: Limit = -1,
    ) -> list[str]:
        """Names of subjects."""
        state = registry.state
        found = state.subject_names(prefix, with_deleted=deleted or deleted_only)
        if deleted_only:
            found = [name for name in found if not state.has_subject(name)]
        return page(found, offset, limit)

    @routes.get("/subjects/{subject:slashed_name}/versions")
    def list_versions(
        subject: str,
        deleted: Deleted = False,
        deleted_only: DeletedOnly = False,
        offset: Offset = 0,
        limit: Limit = -1,
    ) -> list[int]:
        """Numbers of versions."""
        with_deleted = deleted or deleted_only
        found = registry.find(lambda state: _versions(state, subject, with_deleted=with_deleted))
        numbers = [each.version for each in found if each.is_deleted or not deleted_only]
        return page(numbers, offset, limit)

    @routes.get("/subjects/{subject:slashed_name}/metadata")
    def latest_with_metadata(
        subject: str,
        key: Annotated[list[str], Query()],
        value: Annotated[list[str], Query()],
        deleted: Deleted = False,
        form: Format = "",
    ) -> dict[str, Any]:
        """The newest version whose metadata has these properties."""
        wanted = dict(zip(key, value, strict=False))
        state, found = registry.find(lambda state: (state, _with_metadata(state, subject, wanted, deleted)))
        return schema_body(state, found, form=form)

    return routes


def version_routes(registry: SchemaRegistry) -> APIRouter:
    """Reading versions. Names of subjects may hold slashes: files of Protobuf are called like that."""
    routes = new_routes("subjects")

    @routes.get("/subjects/{subject:slashed_name}/versions/{version:name}/schema")
    def schema_text(subject: str, version: str, deleted: Deleted = False, form: Format = "") -> Response:
        """The text of a version, and nothing else."""
        state, found = registry.find(lambda state: (state, find_version(state, subject, version, deleted)))
        return Response(formatted(state, found, form), media_type="application/json")

    @routes.get("/subjects/{subject:slashed_name}/versions/{version:name}/referencedby")
    def referenced_by(
        subject: str, version: str, deleted: Deleted = False, offset: Offset = 0, limit: Limit = -1
    ) -> list[int]:
        """Ids of schemas that refer to a version."""
        state, found = registry.find(lambda state: (state, find_version(state, subject, version, True)))
        referring = state.referring(found.subject, found.version, with_deleted=deleted)
        return page(sorted({each.schema_id for each in referring}), offset, limit)

    @routes.get("/subjects/{subject:slashed_name}/versions/{version:name}")
    def get_version(
        subject: str, version: str, deleted: Deleted = False, form: Format = ""
    ) -> dict[str, Any]:
        """One version, or the latest."""
        state, found = registry.find(lambda state: (state, find_version(state, subject, version, deleted)))
        return schema_body(state, found, form=form)

    return routes


def subject_changes(registry: SchemaRegistry) -> APIRouter:
    """Registering, looking up and deleting."""
    routes = new_routes("subjects")

    @routes.post("/subjects/{subject:slashed_name}/versions")
    def register(
        subject: str, body: SchemaBody, normalize: Normalize = False, force: Force = False
    ) -> dict[str, Any]:
        """Make a schema a version of a subject, unless it is one; the answer has its id."""
        name = writable_subject(registry, subject)
        asked = Registering(subject=name, request=body.request(), normalize=normalize, force=force)
        stored = registry.change(decide_register(asked))
        return registered_body(stored, body)

    @routes.delete("/subjects/{subject:slashed_name}/versions/{version:name}")
    def delete_version(subject: str, version: str, permanent: Permanent = False) -> int:
        """Delete one version, softly unless it is deleted so already."""
        name = subject_named(registry.state, subject)
        return registry.change(decide_delete_version(name, version_number(version), is_permanent=permanent))

    @routes.delete("/subjects/{subject:slashed_name}")
    def delete_subject(subject: str, permanent: Permanent = False) -> list[int]:
        """Delete all versions of a subject, softly unless they are deleted so already."""
        name = subject_named(registry.state, subject)
        return registry.change(decide_delete_subject(name, is_permanent=permanent))

    @routes.post("/subjects/{subject:slashed_name}")
    def look_up(
        subject: str,
        body: SchemaBody,
        normalize: Normalize = False,
        deleted: Deleted = False,
        form: Format = "",
    ) -> dict[str, Any]:
        """Which version of the subject a schema is."""

        def look(state: RegistryState) -> dict[str, Any]:
            name = subject_named(state, subject)
            normal = wants_normal(state, name, normalize)
            found = find_same(state, name, body.request(), normalize=normal, with_deleted=deleted)
            if found is None:
                is_there = state.has_subject(name, with_deleted=deleted)
                raise schema_not_found() if is_there else subject_not_found(name)
            return schema_body(state, found, form=form)

        return registry.find(look)

    return routes


def find_version(state: RegistryState, subject: str, version: str, with_deleted: bool) -> StoredSchema:
    """A version by what stands in a path; refuses what is not there (40401, 40402)."""
    number = version_number(version)
    name = subject_named(state, subject)
    if number is None:
        versions = state.versions(name, with_deleted=False)
        found = versions[-1] if versions else None
    else:
        found = state.version(name, number)
    if found is not None and (with_deleted or not found.is_deleted):
        return found
    if not state.has_subject(name, with_deleted=with_deleted):
        raise subject_not_found(name)
    raise version_not_found(version)


def _versions(state: RegistryState, subject: str, *, with_deleted: bool) -> list[StoredSchema]:
    name = subject_named(state, subject)
    found = state.versions(name, with_deleted=with_deleted)
    if not found:
        raise subject_not_found(name)
    return found


def _with_metadata(
    state: RegistryState, subject: str, wanted: dict[str, str], with_deleted: bool
) -> StoredSchema:
    for version in reversed(_versions(state, subject, with_deleted=with_deleted)):
        properties = (version.metadata or {}).get("properties") or {}
        if all(properties.get(key) == value for key, value in wanted.items()):
            return version
    raise schema_not_found()
