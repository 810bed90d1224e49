"""Where schemas are asked for: one object for each address in a process; and what a schema refers to."""

import functools
from typing import Protocol

from penstock.spark.registry.address import Registry
from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.registered import RegisteredSchema
from penstock.spark.registry.rest_registry import RestRegistry
from penstock.spark.registry.schema_files import FileRegistry, SchemaFiles

REFERENCES_MAX = 1000
Location = Registry | SchemaFiles


class SchemaLookup(Protocol):
    """What decoders and encoders ask."""

    def by_id(self, schema_id: int) -> RegisteredSchema:
        """The schema of an id."""

    def by_guid(self, guid: str) -> RegisteredSchema:
        """The schema of a GUID."""

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """One version of a subject."""

    def latest(self, subject: str | None) -> RegisteredSchema:
        """The newest version of a subject."""

    def look_up(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """The same schema with the id that it has under a subject."""

    def register(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """The same schema with the id that it has from now on."""


@functools.lru_cache(maxsize=16)
def lookup_at(location: Location) -> SchemaLookup:
    """The same object for the same address, so that a process asks for a schema once."""
    return RestRegistry(location) if isinstance(location, Registry) else FileRegistry(location)


def referred_by(schema: RegisteredSchema, lookup: SchemaLookup) -> dict[str, str]:
    """The texts of all schemas that a schema needs, by the names it calls them, those needed first first."""
    found: dict[str, str | None] = {}
    _collect(schema, lookup, found)
    return {name: text for name, text in found.items() if text is not None}


def _collect(schema: RegisteredSchema, lookup: SchemaLookup, found: dict[str, str | None]) -> None:
    """``found`` has None for what is being collected: a circle ends there, and fails when it is parsed."""
    for reference in schema.references:
        if reference.name in found:
            continue
        if len(found) >= REFERENCES_MAX:
            raise SchemaUnsupportedError(f"Schema {schema.schema_id} refers to over {REFERENCES_MAX} others.")
        found[reference.name] = None
        needed = lookup.version(reference.subject, reference.version)
        _collect(needed, lookup, found)
        del found[reference.name]
        found[reference.name] = needed.text
