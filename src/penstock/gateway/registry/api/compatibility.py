"""``/compatibility``: whether a schema could be registered, without doing it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.api.bodies import SchemaBody
from penstock.gateway.registry.api.routes import (
    Normalize,
    new_routes,
    subject_named,
    version_number,
)
from penstock.gateway.registry.compatibility import conflicts, worded
from penstock.gateway.registry.decisions.lookup import pinned
from penstock.gateway.registry.errors import version_not_found
from penstock.gateway.registry.parsed_schemas import parse_new
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema

Verbose = Annotated[bool, Query(description="Whether to say what is in the way.")]


def compatibility_routes(registry: SchemaRegistry) -> APIRouter:
    """Comparing a schema with versions of a subject, by the level that the subject has."""
    routes = new_routes("compatibility")

    @routes.post("/compatibility/subjects/{subject:slashed_name}/versions/{version:name}")
    def with_version(
        subject: str, version: str, body: SchemaBody, normalize: Normalize = False, verbose: Verbose = False
    ) -> dict[str, Any]:
        """Compare with one version, or the latest."""

        def look(state: RegistryState) -> dict[str, Any]:
            name = subject_named(state, subject)
            return _compared(state, name, body, verbose=verbose, earlier=_one(state, name, version))

        return registry.find(look)

    @routes.post("/compatibility/subjects/{subject:slashed_name}/versions")
    def with_all(
        subject: str, body: SchemaBody, normalize: Normalize = False, verbose: Verbose = False
    ) -> dict[str, Any]:
        """Compare as registering would: with the latest version, or with all if the level is transitive."""
        state = registry.state
        name = subject_named(state, subject)
        return _compared(state, name, body, verbose=verbose, earlier=state.versions(name))

    return routes


def _one(state: RegistryState, subject: str, version: str) -> list[StoredSchema]:
    number = version_number(version)
    found = state.latest(subject) if number is None else state.version(subject, number)
    if found is not None and not found.is_deleted:
        return [found]
    if number is None:
        return []
    raise version_not_found(version)


def _compared(
    state: RegistryState, subject: str, body: SchemaBody, *, verbose: bool, earlier: list[StoredSchema]
) -> dict[str, Any]:
    request = pinned(state, subject, body.request())
    try:
        parsed = parse_new(state, subject, request.kind, text=request.text, references=request.references)
    except GatewayError as error:
        if not verbose:
            raise
        messages = [error.message]
    else:
        found = conflicts(state, subject, parsed, earlier=earlier, metadata=body.metadata)
        messages = worded(found)
    answer: dict[str, Any] = {"is_compatible": not messages}
    return answer | ({"messages": messages} if verbose else {})
