"""A schema as a registry keeps it: text, format, what it refers to, and the names it goes by."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.spark.registry.errors import SchemaUnsupportedError


class Format(StrEnum):
    """How records are written; the values are the registry's ``schemaType``."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A schema that another one uses; ``name`` is how its text says so: a type's name, a file, an address."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSchema:
    """One schema of a registry. An answer names of ``subject``, ``version`` and ``guid`` what it knows."""

    schema_id: int | None
    text: str
    format: Format = Format.AVRO
    references: tuple[Reference, ...] = ()
    subject: str | None = None
    version: int | None = None
    guid: str | None = None


def parse_format(name: str | None) -> Format:
    """The format of that name in any case; no name means Avro, as in the registry's answers."""
    try:
        return Format((name or Format.AVRO).upper())
    except ValueError:
        known = ", ".join(repr(known.value.lower()) for known in Format)
        raise SchemaUnsupportedError(f"There is no format {name!r}; it is one of {known}.") from None


def from_answer(answer: Mapping[str, Any], schema_id: int | None = None) -> RegisteredSchema:
    """The schema in a registry's JSON answer; ``schema_id`` is what was asked, if it is left out."""
    text = answer.get("schema")
    if not isinstance(text, str):
        raise SchemaUnsupportedError(f"No text of a schema under 'schema' in {sorted(answer)}.")
    return RegisteredSchema(
        schema_id=answer.get("id", schema_id),
        text=text,
        format=parse_format(answer.get("schemaType")),
        references=tuple(_reference(reference) for reference in answer.get("references") or ()),
        subject=answer.get("subject"),
        version=answer.get("version"),
        guid=answer.get("guid"),
    )


def to_request(schema: RegisteredSchema) -> dict[str, Any]:
    """The JSON body with which a schema is registered or looked up."""
    body: dict[str, Any] = {"schema": schema.text, "schemaType": schema.format.value}
    if schema.references:
        body["references"] = [
            {"name": reference.name, "subject": reference.subject, "version": reference.version}
            for reference in schema.references
        ]
    return body


def _reference(answer: Mapping[str, Any]) -> Reference:
    return Reference(name=answer["name"], subject=answer["subject"], version=answer["version"])
