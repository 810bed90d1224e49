"""Keys and values by the schemas of the registry in the same process."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.gateway.errors import GatewayError
from penstock.gateway.payloads.decoded import Decoded, UndecodableError
from penstock.gateway.payloads.decoding import SchemaDecoding
from penstock.gateway.payloads.ready_schema import find_schema
from penstock.gateway.registry.errors import subject_not_found, version_not_found
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import qualified

ID_MAX = 2**31 - 1
_MAGIC = b"\x00"
_ID_BYTES = 4

Encode = Callable[[Any], bytes]


class SchemaChoice(BaseModel):
    """Which schema: by its id, or by its subject and version, of which the newest is taken if not said."""

    model_config = ConfigDict(extra="forbid")

    id: int | None = Field(default=None, ge=1, le=ID_MAX)
    subject: str | None = Field(default=None, min_length=1, max_length=1_000)
    version: int | None = Field(default=None, ge=1, le=ID_MAX)

    @model_validator(mode="after")
    def _check_one(self) -> "SchemaChoice":
        if (self.id is None) == (self.subject is None) or (self.id is not None and self.version is not None):
            raise ValueError("a schema is chosen by its id, or by its subject with or without a version")
        return self


class SchemaPayloads:
    """Encodes and decodes by the schemas of one registry; any thread may use it."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry = registry
        self._decoding = SchemaDecoding(find=partial(find_schema, registry))

    def decode(self, payload: bytes) -> Decoded:
        """The document in a payload; ``UndecodableError`` says why there is none."""
        return self._decoding(payload)

    def encoder(self, choice: SchemaChoice) -> Encode:
        """What makes payloads of documents; refuses (404) a schema that is not there."""
        schema_id = choice.id or self._registry.find(lambda state: _chosen(state, choice)).schema_id
        try:
            schema = find_schema(self._registry, schema_id)
        except UndecodableError as error:
            raise GatewayError(404, str(error), error_code=40403) from error
        front = _MAGIC + schema_id.to_bytes(_ID_BYTES, "big")

        def encode(document: Any) -> bytes:
            try:
                return front + schema.write(document)
            except Exception as error:
                # Whatever three libraries say about a document that somebody sent.
                reason = (str(error) or type(error).__name__).rstrip(".")
                raise GatewayError(
                    422, f"A document does not fit schema {schema_id}: {reason[:500]}.", error_code=42205
                ) from error

        return encode


def _chosen(state: RegistryState, choice: SchemaChoice) -> StoredSchema:
    subject = qualified(choice.subject or "")
    if choice.version is None:
        found = state.latest(subject)
        if found is None:
            raise subject_not_found(choice.subject)
        return found
    found = state.version(subject, choice.version)
    if found is None:
        raise version_not_found(choice.version)
    return found
