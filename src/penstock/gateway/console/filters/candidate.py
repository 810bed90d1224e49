"""A message that a filter looks at: its bytes, and what is made of them only if somebody asks.

Most messages are turned down by their bytes alone; parsing JSON or decoding Avro costs many times as much.
"""

import json
from collections.abc import Callable
from typing import Any

from penstock.records.errors import CorruptBatchError
from penstock.records.lazy_record import LazyRecord
from penstock.records.record import Headers, Record

MISSING = object()
"""What stands for a document where there is none."""

FRAME_BYTES = 5
_NO_SCHEMA = b"\x00\x00\x00\x00\x00"
"""Registries count from 1; small numbers of eight bytes begin like this."""

Decode = Callable[[bytes], Any]
"""Makes a document of bytes that begin with the number of a schema, or ``MISSING``."""


class Candidate:
    """One message; ``decode`` is asked for payloads that carry the number of a schema."""

    __slots__ = ("_decode", "_documents", "partition", "record")

    def __init__(self, partition: int, record: Record | LazyRecord, decode: Decode) -> None:
        self.partition = partition
        self.record = record
        self._decode = decode
        self._documents: dict[bool, Any] | None = None

    @property
    def headers(self) -> Headers:
        """Names and values; none if a producer wrote what is no headers."""
        try:
            return self.record.headers
        except CorruptBatchError:
            return ()

    def payload(self, *, is_of_key: bool) -> bytes | None:
        """The key or the value."""
        return self.record.key if is_of_key else self.record.value

    def document(self, *, is_of_key: bool) -> Any:
        """The key or the value as JSON, or ``MISSING``."""
        if self._documents is None:
            self._documents = {}
        if is_of_key not in self._documents:
            self._documents[is_of_key] = self._made(self.payload(is_of_key=is_of_key))
        return self._documents[is_of_key]

    def _made(self, payload: bytes | None) -> Any:
        if not payload:
            return MISSING
        if is_framed(payload):
            return self._decode(payload)
        return parsed(payload)


def is_framed(payload: bytes) -> bool:
    """Whether it begins as serializers of a registry write: a zero, and the number of a schema."""
    return payload[0] == 0 and len(payload) >= FRAME_BYTES and not payload.startswith(_NO_SCHEMA)


def parsed(payload: bytes) -> Any:
    """The document in ``payload``, or ``MISSING`` if that is no JSON."""
    try:
        # Decoded here: looking for other encodings than UTF-8 would take a quarter of the time.
        return json.loads(payload.decode())
    except (ValueError, RecursionError):
        return MISSING
