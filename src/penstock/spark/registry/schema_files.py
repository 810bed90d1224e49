"""A registry without a server: schemas in a directory or a dictionary, for tests and without a network.

A directory holds one file for each schema, named by its id:

``7.avsc``
    an Avro schema,
``7.proto``
    a Protobuf file,
``7.schema.json``
    a JSON Schema,
``7.json``
    a registry's own answer to ``GET /schemas/ids/7``, with ``schema``, ``schemaType``, ``references`` and, if
    wanted, ``subject``, ``version`` and ``guid``. Only this kind can have a subject or references.

A dictionary has ids as keys, and as values texts of Avro schemas or answers as above. The contents are read
once, where the query is planned, and travel to the tasks, which need not see the directory.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.model.errors import UsageError
from penstock.spark.registry.errors import SchemaNotFoundError, SchemaRefusedError
from penstock.spark.registry.registered import Format, RegisteredSchema, from_answer

SUFFIXES = {".avsc": Format.AVRO, ".proto": Format.PROTOBUF, ".schema.json": Format.JSON}
ANSWER_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFiles:
    """What was read: every schema with its id, in the order of ids; ``name`` says where from."""

    name: str
    schemas: tuple[RegisteredSchema, ...]


def read_schemas(source: str | Path | Mapping[int, Any]) -> SchemaFiles:
    """The schemas of a directory or a dictionary."""
    if isinstance(source, Mapping):
        found = [_entry(schema_id, entry) for schema_id, entry in source.items()]
        return SchemaFiles(name="the given schemas", schemas=_in_order(found))
    folder = Path(source)
    if not folder.is_dir():
        raise UsageError(f"There is no directory {source} of schemas.")
    return SchemaFiles(name=str(folder), schemas=_in_order(list(_files(folder))))


class FileRegistry:
    """Answers as a registry's server would, out of what was read. It takes no new schemas."""

    def __init__(self, files: SchemaFiles) -> None:
        self._name = files.name
        self._schemas = files.schemas

    def __str__(self) -> str:
        return self._name

    def by_id(self, schema_id: int) -> RegisteredSchema:
        """The schema of an id."""
        return self._one(lambda schema: schema.schema_id == schema_id, f"id {schema_id}")

    def by_guid(self, guid: str) -> RegisteredSchema:
        """The schema of a GUID."""
        return self._one(lambda schema: schema.guid == guid, f"GUID {guid}")

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """One version of a subject."""
        return self._one(
            lambda schema: (schema.subject, schema.version) == (subject, version),
            f"version {version} of {subject}",
        )

    def latest(self, subject: str | None) -> RegisteredSchema:
        """The schema of a subject with the highest version, or without a subject that of the highest id."""
        own = [schema for schema in self._schemas if subject is None or schema.subject == subject]
        if not own:
            raise SchemaNotFoundError(f"{self}: no schema of subject {subject!r}.")
        return max(own, key=lambda schema: (schema.version or 0, schema.schema_id or 0))

    def look_up(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """The same schema with the id that it has under a subject."""
        known = self._one(
            lambda known: (
                (known.subject, known.format) == (subject, schema.format)
                and _same_text(known.text, schema.text)
            ),
            f"that text under {subject}",
        )
        return replace(schema, schema_id=known.schema_id, subject=subject)

    def register(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """Refused: files are only read."""
        raise SchemaRefusedError(f"{self}: files are only read, so {subject} gets no schema; give url=....")

    def _one(self, is_wanted: Any, what: str) -> RegisteredSchema:
        for schema in self._schemas:
            if is_wanted(schema):
                return schema
        raise SchemaNotFoundError(f"{self}: no schema of {what}.")


def _same_text(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return one.split() == other.split()


def _in_order(schemas: list[RegisteredSchema]) -> tuple[RegisteredSchema, ...]:
    return tuple(sorted(schemas, key=lambda schema: schema.schema_id or 0))


def _entry(schema_id: int, entry: Any) -> RegisteredSchema:
    if isinstance(entry, RegisteredSchema):
        return replace(entry, schema_id=schema_id)
    if isinstance(entry, str):
        return RegisteredSchema(schema_id=schema_id, text=entry)
    if isinstance(entry, Mapping):
        return from_answer({**entry, "id": schema_id})
    raise UsageError(f"Schema {schema_id} is a {type(entry).__name__}; give its text or a registry's answer.")


def _files(folder: Path) -> Iterator[RegisteredSchema]:
    for path in sorted(folder.iterdir()):
        number, _, suffix = path.name.partition(".")
        if not number.isdecimal():
            continue
        if f".{suffix}" in SUFFIXES:
            yield RegisteredSchema(
                schema_id=int(number), text=path.read_text(), format=SUFFIXES[f".{suffix}"]
            )
        elif f".{suffix}" == ANSWER_SUFFIX:
            yield from_answer({**json.loads(path.read_text()), "id": int(number)})
