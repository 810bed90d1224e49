"""What decoding a payload by its schema gives: a document, or the reason why there is none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.model.errors import OperatingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A payload that a registry's schema made readable."""

    document: Any
    """Plain values, as JSON has them."""
    kind: str
    """``avro``, ``json_schema`` or ``protobuf``."""
    schema_id: int


class UndecodableError(OperatingError):
    """A payload that begins like one with a schema, and cannot be decoded; the message says why."""


Decoder = Callable[[bytes], Decoded]
"""Decodes a payload that begins with the number of a schema, or raises ``UndecodableError``."""
