"""Schemas as values: Avro, JSON Schema and Protobuf parsed, made canonical, and compared. No I/O.

``parse`` makes a ``ParsedSchema`` of a text or raises ``InvalidSchema``; ``check`` says what stands between
two of them. Below: ``schema`` (what a schema is), ``parsing``, ``compatibility``, and a folder for each kind,
which is imported when the first schema of its kind comes.
"""

from penstock.schemas.compatibility import Direction, check
from penstock.schemas.errors import InvalidSchema
from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.parsing import parse
from penstock.schemas.schema import (
    ParsedSchema,
    Reference,
    SchemaKind,
    formatted_text,
    normalized,
    normalized_text,
)

__all__ = [
    "Direction",
    "Incompatibility",
    "InvalidSchema",
    "ParsedSchema",
    "Reference",
    "SchemaKind",
    "check",
    "formatted_text",
    "normalized",
    "normalized_text",
    "parse",
]
