"""Schemas: subjects, their versions, and what changed between two; the registry has the API for changes."""

from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.gateway.console.schemas.difference import difference
from penstock.gateway.console.schemas.layout import laid_out
from penstock.gateway.registry.errors import subject_not_found, version_not_found
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import LEVEL, RegistryState
from penstock.gateway.registry.values.levels import CompatibilityLevel
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import qualified


def router(console: Console) -> APIRouter:
    """The routes of schemas."""
    routes = APIRouter(prefix="/schemas")
    registry: SchemaRegistry = console.gateway.registry

    @routes.get("")
    def subjects(deleted: bool = False) -> dict[str, Any]:
        """Every subject with its newest version, and what holds for all."""
        state = registry.state
        names = state.subject_names(":*:", with_deleted=deleted)
        return {
            "subjects": [_told_subject(state, name) for name in names],
            "level": state.config_in_scope(None)[LEVEL],
            "levels": list(CompatibilityLevel),
            "mode": state.mode_in_scope(None),
            "problem": registry.progress.trouble or None,
        }

    @routes.get("/subject")
    def subject(name: str) -> dict[str, Any]:
        """One subject with all its versions, newest first."""
        return registry.find(lambda state: _told_whole(state, qualified(name)))

    @routes.get("/difference")
    def between(name: str, left: int, right: int) -> dict[str, Any]:
        """Two versions of a subject side by side, line by line."""

        def look(state: RegistryState) -> dict[str, Any]:
            texts = [laid_out(each.kind, each.text) for each in _two(state, qualified(name), (left, right))]
            rows = difference(*texts)
            return {"left": left, "right": right, "rows": [row._asdict() for row in rows]}

        return registry.find(look)

    return routes


def _told_subject(state: RegistryState, name: str) -> dict[str, Any]:
    versions = state.versions(name) or state.versions(name, with_deleted=True)
    newest = versions[-1]
    return {
        "subject": name,
        "kind": newest.kind,
        "versions": len(versions),
        "version": newest.version,
        "schema_id": newest.schema_id,
        "is_deleted": newest.is_deleted,
        **_told_settings(state, name),
    }


def _told_settings(state: RegistryState, name: str) -> dict[str, Any]:
    return {
        "level": state.config_in_scope(name)[LEVEL],
        "has_own_level": LEVEL in state.configs.get(name, {}),
        "mode": state.mode_in_scope(name),
    }


def _told_whole(state: RegistryState, name: str) -> dict[str, Any]:
    versions = state.versions(name, with_deleted=True)
    if not versions:
        raise subject_not_found(name)
    return {
        **_told_subject(state, name),
        "levels": list(CompatibilityLevel),
        "versions": [_told_version(state, each) for each in reversed(versions)],
    }


def _told_version(state: RegistryState, schema: StoredSchema) -> dict[str, Any]:
    return {
        "version": schema.version,
        "schema_id": schema.schema_id,
        "kind": schema.kind,
        "text": laid_out(schema.kind, schema.text),
        "references": [
            {"name": each.name, "subject": each.subject, "version": each.version}
            for each in schema.references
        ],
        "referred_by": [
            {"subject": each.subject, "version": each.version}
            for each in state.referring(schema.subject, schema.version)
        ],
        "timestamp": schema.timestamp_ms,
        "is_deleted": schema.is_deleted,
    }


def _two(state: RegistryState, name: str, numbers: tuple[int, int]) -> list[StoredSchema]:
    found = [state.version(name, number) for number in numbers]
    for number, schema in zip(numbers, found, strict=True):
        if schema is None:
            raise (
                version_not_found(number)
                if state.versions(name, with_deleted=True)
                else subject_not_found(name)
            )
    return [each for each in found if each is not None]
