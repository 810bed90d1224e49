"""Payloads with the number of a schema made readable.

A topic may hold several schemas; each is made ready once. What cannot be decoded says why.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.gateway.payloads.decoded import Decoded, UndecodableError
from penstock.gateway.payloads.ready_schema import ReadySchema

SCHEMAS_MAX = 500
"""Made ready at once; beyond that all are made anew when they are needed."""

_ID_END = 5

FAILURE_SECONDS = 10.0
"""How long a schema that could not be found is not looked for again: a topic may hold a million of them."""


@dataclass(slots=True, kw_only=True)
class SchemaDecoding:
    """Decodes payloads; ``find`` makes a schema ready or raises ``UndecodableError``. For any thread."""

    find: Callable[[int], ReadySchema]
    _ready: dict[int, ReadySchema] = field(default_factory=dict)
    _failures: dict[int, tuple[float, UndecodableError]] = field(default_factory=dict)

    def __call__(self, payload: bytes) -> Decoded:
        """The document in a payload; ``UndecodableError`` says why there is none."""
        schema_id = int.from_bytes(payload[1:_ID_END], "big")
        schema = self._schema(schema_id)
        try:
            document = schema.read(payload[_ID_END:])
        except Exception as error:
            # Whatever goes wrong in three libraries over bytes that anybody may have written.
            raise UndecodableError(
                f"Schema {schema_id} ({schema.kind}) does not fit these bytes: {_reason(error)}."
            ) from error
        return Decoded(document=document, kind=schema.kind, schema_id=schema_id)

    def _schema(self, schema_id: int) -> ReadySchema:
        found = self._ready.get(schema_id)
        if found is not None:
            return found
        failed_at, failure = self._failures.get(schema_id, (0.0, None))
        if failure is not None and time.monotonic() - failed_at < FAILURE_SECONDS:
            raise UndecodableError(str(failure))
        if len(self._ready) + len(self._failures) >= SCHEMAS_MAX:
            self._ready.clear()
            self._failures.clear()
        try:
            self._ready[schema_id] = found = self.find(schema_id)
        except UndecodableError as error:
            self._failures[schema_id] = (time.monotonic(), error)
            raise
        return found


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).rstrip(".")
