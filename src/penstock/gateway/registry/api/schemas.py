"""``/schemas``: by id or GUID, wherever they are registered."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock.gateway.registry.api.bodies import content_body, formatted, schema_body
from penstock.gateway.registry.api.routes import Deleted, Format, Limit, Offset, new_routes, page
from penstock.gateway.registry.errors import schema_not_found
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import ANY_CONTEXT, qualified
from penstock.schemas import SchemaKind

Subject = Annotated[str | None, Query(description="In whose context the id is meant.")]
Prefix = Annotated[str, Query(alias="subjectPrefix", description="`:*:` stands for every context.")]


def schema_routes(registry: SchemaRegistry) -> APIRouter:
    """Listing schemas and their kinds."""
    routes = new_routes("schemas")

    @routes.get("/schemas")
    def list_schemas(
        prefix: Prefix = ANY_CONTEXT,
        deleted: Deleted = False,
        latest_only: Annotated[bool, Query(alias="latestOnly")] = False,
        offset: Offset = 0,
        limit: Limit = -1,
    ) -> list[dict[str, Any]]:
        """Versions of subjects, all or the latest of each."""
        state = registry.state
        found = []
        for subject in state.subject_names(prefix, with_deleted=deleted):
            versions = state.versions(subject, with_deleted=deleted)
            found += versions[-1:] if latest_only else versions
        return [schema_body(state, each) for each in page(found, offset, limit)]

    @routes.get("/schemas/types")
    def list_types() -> list[str]:
        """The kinds of schemas that are known."""
        return sorted(SchemaKind, reverse=True)

    return routes


def id_routes(registry: SchemaRegistry) -> APIRouter:
    """Reading schemas by id."""
    routes = new_routes("schemas")

    @routes.get("/schemas/ids/{schema_id}")
    def get_schema(
        schema_id: int,
        subject: Subject = None,
        form: Format = "",
        with_highest: Annotated[bool, Query(alias="fetchMaxId")] = False,
    ) -> dict[str, Any]:
        """What a schema says."""
        state, found = registry.find(lambda state: (state, find_ids(state, schema_id, subject)))
        body = content_body(state, found[0], form=form)
        body.pop("deleted", None)
        if with_highest:
            body["maxId"] = state.highest_ids.get(found[0].context, 0)
        return body | {"subject": found[0].subject, "version": found[0].version}

    @routes.get("/schemas/ids/{schema_id}/schema")
    def get_text(schema_id: int, subject: Subject = None, form: Format = "") -> Response:
        """The text of a schema, and nothing else."""
        state, found = registry.find(lambda state: (state, find_ids(state, schema_id, subject)))
        return Response(formatted(state, found[0], form), media_type="application/json")

    @routes.get("/schemas/ids/{schema_id}/subjects")
    def list_subjects(
        schema_id: int,
        subject: Subject = None,
        deleted: Deleted = False,
        offset: Offset = 0,
        limit: Limit = -1,
    ) -> list[str]:
        """The subjects that have a schema."""
        found = registry.find(lambda state: find_ids(state, schema_id, subject))
        return page(sorted({each.subject for each in found if deleted or not each.is_deleted}), offset, limit)

    @routes.get("/schemas/ids/{schema_id}/versions")
    def list_versions(
        schema_id: int,
        subject: Subject = None,
        deleted: Deleted = False,
        offset: Offset = 0,
        limit: Limit = -1,
    ) -> list[dict[str, Any]]:
        """The subjects and versions that have a schema."""
        found = registry.find(lambda state: find_ids(state, schema_id, subject))
        shown = sorted((each.subject, each.version) for each in found if deleted or not each.is_deleted)
        return [{"subject": name, "version": version} for name, version in page(shown, offset, limit)]

    return routes


def guid_routes(registry: SchemaRegistry) -> APIRouter:
    """Reading schemas by GUID."""
    routes = new_routes("schemas")

    @routes.get("/schemas/guids/{guid}")
    def get_schema(guid: str, form: Format = "") -> dict[str, Any]:
        """What a schema says."""
        state, found = registry.find(lambda state: (state, _by_guid(state, guid)))
        body = content_body(state, found[0], form=form)
        body.pop("deleted", None)
        return body

    @routes.get("/schemas/guids/{guid}/ids")
    def list_ids(guid: str) -> list[dict[str, Any]]:
        """The ids of a schema, by context."""
        found = registry.find(lambda state: _by_guid(state, guid))
        ids = sorted({(each.context, each.schema_id) for each in found})
        return [{"context": context, "id": schema_id} for context, schema_id in ids]

    return routes


def find_ids(state: RegistryState, schema_id: int, subject: str | None) -> tuple[StoredSchema, ...]:
    """The versions that have an id, the one that is meant first; refuses an unknown one (40403)."""
    found = state.by_id(schema_id, qualified(subject) if subject else None)
    if not found:
        raise schema_not_found(schema_id)
    return found


def _by_guid(state: RegistryState, guid: str) -> tuple[StoredSchema, ...]:
    found = state.guids.get(guid, ())
    if not found:
        raise schema_not_found(guid)
    return found
