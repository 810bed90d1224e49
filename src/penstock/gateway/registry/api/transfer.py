"""``/penstock/schemas``: the whole registry out into one file, and in from one."""

import itertools
import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from penstock.gateway.registry.api.routes import new_routes
from penstock.gateway.registry.decisions.decision import Decision
from penstock.gateway.registry.decisions.transferring import Imported, decide_import, exported
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState

ENTRIES_MAX = 1_000
PIECE_ENTRIES = 500
IMPORT_SECONDS_MAX = 60.0
LINES_MEDIA_TYPE = "application/x-ndjson"

DryRun = Annotated[bool, Query(alias="dryRun", description="Only tell what would be done.")]


class ImportBody(BaseModel):
    """A part of an export, in its order."""

    entries: list[dict[str, Any]] = Field(max_length=ENTRIES_MAX)


def transfer_routes(registry: SchemaRegistry) -> APIRouter:
    """Export and import."""
    routes = new_routes("export and import")

    @routes.get("/penstock/schemas/export")
    def export() -> StreamingResponse:
        """Everything, an entry of JSON on each line; what is added meanwhile is not part of it."""
        return StreamingResponse(_lines(registry.state), media_type=LINES_MEDIA_TYPE)

    @routes.post("/penstock/schemas/import")
    def import_entries(body: ImportBody, dry_run: DryRun = False) -> dict[str, Any]:
        """Take all of these entries or, if one is refused, none."""
        decide = decide_import(body.entries)
        if dry_run:
            decision: Decision[Imported] = decide(registry.state)
            imported = decision.answer
        else:
            imported = registry.change(decide, seconds_max=IMPORT_SECONDS_MAX)
        return {"added": imported.added_count, "unchanged": imported.unchanged_count}

    return routes


def _lines(state: RegistryState) -> Iterator[str]:
    """Many lines at a time: each piece of a stream changes threads on its way out."""
    entries = exported(state)
    while piece := list(itertools.islice(entries, PIECE_ENTRIES)):
        yield "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in piece)
