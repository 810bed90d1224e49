"""Bodies of requests and answers, under the names that the registry's clients know."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from penstock.gateway.registry.decisions.requests import SchemaRequest
from penstock.gateway.registry.decisions.well_formed import NUMBER_MAX, require_metadata, require_rules
from penstock.gateway.registry.parsed_schemas import parse_stored
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.records import reference_body
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.schemas import Reference, formatted_text


class ReferenceBody(BaseModel):
    """A schema that another one uses."""

    name: str
    subject: str
    version: int = Field(le=NUMBER_MAX)


class SchemaBody(BaseModel):
    """A schema to register, look up or compare."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"schema": '{"type":"string"}', "schemaType": "AVRO"}]}
    )

    text: str = Field(default="", alias="schema")
    kind: str | None = Field(default=None, alias="schemaType")
    references: list[ReferenceBody] | None = None
    metadata: dict[str, Any] | None = None
    rule_set: dict[str, Any] | None = Field(default=None, alias="ruleSet")
    version: int | None = Field(default=None, le=NUMBER_MAX)
    schema_id: int | None = Field(default=None, alias="id", le=NUMBER_MAX)

    def request(self) -> SchemaRequest:
        """The request that it is; refuses metadata and rules that are none."""
        require_metadata(self.metadata)
        require_rules(self.rule_set)
        return SchemaRequest(
            text=self.text,
            kind=self.kind or "AVRO",
            references=tuple(
                Reference(name=each.name, subject=each.subject, version=each.version)
                for each in self.references or ()
            ),
            metadata=self.metadata,
            rule_set=self.rule_set,
            version=self.version if self.version and self.version > 0 else None,
            schema_id=self.schema_id if self.schema_id is not None and self.schema_id >= 0 else None,
        )


def registered_body(schema: StoredSchema, asked: SchemaBody) -> dict[str, Any]:
    """The answer to who registers a schema, with metadata and rules if they are others than were brought.

    The text is theirs, if any: clients keep it beside the id, and some write Protobuf in another form.
    """
    body: dict[str, Any] = {"id": schema.schema_id, "version": schema.version, "guid": schema.guid}
    if (schema.metadata, schema.rule_set) == (asked.metadata, asked.rule_set):
        return body
    return body | content_body(RegistryState(), schema) | {"schema": asked.text}


def schema_body(state: RegistryState, schema: StoredSchema, *, form: str = "") -> dict[str, Any]:
    """A version of a subject."""
    body: dict[str, Any] = {"subject": schema.subject, "version": schema.version, "id": schema.schema_id}
    return body | content_body(state, schema, form=form)


def content_body(state: RegistryState, schema: StoredSchema, *, form: str = "") -> dict[str, Any]:
    """What a schema says, wherever it stands."""
    body: dict[str, Any] = {"guid": schema.guid, "schemaType": schema.kind}
    if schema.references:
        body["references"] = [reference_body(each) for each in schema.references]
    if schema.metadata is not None:
        body["metadata"] = dict(schema.metadata)
    if schema.rule_set is not None:
        body["ruleSet"] = dict(schema.rule_set)
    body["schema"] = formatted(state, schema, form)
    if schema.timestamp_ms >= 0:
        body["ts"] = schema.timestamp_ms
    return body | ({"deleted": True} if schema.is_deleted else {})


def formatted(state: RegistryState, schema: StoredSchema, form: str) -> str:
    """A schema's text in another form, if one is asked for."""
    return formatted_text(parse_stored(state, schema), form) if form else schema.text
