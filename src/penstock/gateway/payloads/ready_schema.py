"""Schemas of the registry, made ready to read and write payloads with."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from penstock.gateway.errors import GatewayError
from penstock.gateway.payloads.decoded import UndecodableError
from penstock.gateway.registry.parsed_schemas import parse_stored
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.schemas import ParsedSchema, SchemaKind, formatted_text

Read = Callable[[bytes], Any]
"""Makes a document of the bytes behind a schema's number; whatever it raises means that it cannot."""

Write = Callable[[Any], bytes]
"""Makes the bytes behind a schema's number of a document; whatever it raises means that it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadySchema:
    """A schema that payloads can be read and written with."""

    kind: str
    """``avro``, ``json_schema`` or ``protobuf``."""
    read: Read
    write: Write


def find_schema(registry: SchemaRegistry, schema_id: int) -> ReadySchema:
    """The schema of that number, ready; ``UndecodableError`` says why it cannot be."""
    try:
        state, schema = registry.find(lambda state: (state, _by_id(state, schema_id)))
        return ready_schema(parse_stored(state, schema))
    except GatewayError as error:
        raise UndecodableError(error.message) from error
    except ImportError as error:
        raise UndecodableError(
            f"Schema {schema_id} cannot be read here: the package {error.name!r} is missing; "
            "pip install 'penstock[gateway]' brings it."
        ) from error


def ready_schema(schema: ParsedSchema) -> ReadySchema:
    """A parsed schema, ready."""
    match schema.kind:
        case SchemaKind.AVRO:
            from penstock.gateway.payloads.avro import avro_reader, avro_writer

            text = formatted_text(schema, "resolved")
            return ReadySchema(kind="avro", read=avro_reader(text), write=avro_writer(text))
        case SchemaKind.PROTOBUF:
            from penstock.gateway.payloads.protobuf import protobuf_reader, protobuf_writer

            return ReadySchema(kind="protobuf", read=protobuf_reader(schema), write=protobuf_writer(schema))
        case SchemaKind.JSON:
            return ReadySchema(kind="json_schema", read=_read_json, write=_write_json)


def _by_id(state: RegistryState, schema_id: int) -> StoredSchema:
    found = state.by_id(schema_id)
    if not found:
        raise GatewayError(404, f"The registry has no schema {schema_id}.", error_code=40403)
    return found[0]


def _read_json(payload: bytes) -> Any:
    return json.loads(payload, parse_constant=_refuse)


def _write_json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
