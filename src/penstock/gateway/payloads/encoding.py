"""Documents made into payloads that carry the number of their schema, as serializers write them."""

from typing import Any

from penstock.gateway.errors import GatewayError
from penstock.gateway.payloads.ready_schema import ready_schema
from penstock.gateway.registry.errors import subject_not_found
from penstock.gateway.registry.parsed_schemas import parse_stored
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import qualified

_MAGIC = b"\x00"
_ID_BYTES = 4


def encode_document(registry: SchemaRegistry, document: Any, *, subject: str) -> bytes:
    """The payload, by the newest schema of a subject; refuses (422) what does not fit it, with the reason."""
    state, schema = registry.find(lambda state: (state, _latest(state, subject)))
    try:
        body = ready_schema(parse_stored(state, schema)).write(document)
    except GatewayError:
        raise
    except Exception as error:
        # Whatever three libraries say about a document that somebody typed.
        reason = (str(error) or type(error).__name__).rstrip(".")
        raise GatewayError(
            422, f"The document does not fit version {schema.version} of {subject!r}: {reason}."
        ) from error
    return _MAGIC + schema.schema_id.to_bytes(_ID_BYTES, "big") + body


def _latest(state: RegistryState, subject: str) -> StoredSchema:
    found = state.latest(qualified(subject))
    if found is None:
        raise subject_not_found(subject)
    return found
