"""A schema as somebody brings it, to be registered, looked up or compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.schemas import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRequest:
    """What stands in the body of a request. Version and id are given by who imports."""

    text: str
    kind: str = "AVRO"
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    version: int | None = None
    schema_id: int | None = None
