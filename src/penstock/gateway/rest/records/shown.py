"""A record as JSON."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from penstock.gateway.kafka.record_reader import ReadRecord
from penstock.gateway.payloads.decoded import Decoder
from penstock.gateway.rest.records.formats import Format, tell_key, tell_value


class ShownHeader(BaseModel):
    """A header of a record."""

    name: str
    value: Any
    format: Format


class ShownRecord(BaseModel):
    """A record that was read. What the formats say is how key and value are to be understood."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "partition": 0,
                "offset": 17,
                "timestamp": 1763400000000,
                "key": "valve",
                "key_format": "string",
                "value": {"order": 1, "total": 9.5},
                "value_format": "json",
                "headers": [{"name": "source", "value": "shop", "format": "string"}],
            }
        }
    )

    partition: int
    offset: int
    timestamp: int
    """Milliseconds since 1970; -1 if it has none."""
    key: Any
    key_format: Format
    value: Any
    value_format: Format
    headers: list[ShownHeader]
    key_schema_id: int | None = None
    """By which schema it was decoded; not there if it carries none."""
    value_schema_id: int | None = None
    key_problem: str | None = None
    """Why it could not be decoded by its schema; not there if it was."""
    value_problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How records are told."""

    key_format: Format
    value_format: Format
    decode: Decoder | None = None


def show_record(found: ReadRecord, telling: Telling) -> dict[str, Any]:
    """The fields of a ``ShownRecord``; not the model itself, which would cost more than all the rest."""
    record = found.record
    key = tell_key(record.key, telling.key_format, telling.decode)
    value = tell_value(record.value, telling.value_format, telling.decode)
    shown: dict[str, Any] = {
        "partition": found.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": key.data,
        "key_format": key.format,
        "value": value.data,
        "value_format": value.format,
        "headers": [_header(name, data) for name, data in record.headers],
    }
    for name, told in (("key", key), ("value", value)):
        if told.schema_id is not None:
            shown[f"{name}_schema_id"] = told.schema_id
        if told.problem is not None:
            shown[f"{name}_problem"] = told.problem
    return shown


def _header(name: str, data: bytes | None) -> dict[str, Any]:
    told = tell_key(data, Format.AUTO)
    return {"name": name, "value": told.data, "format": told.format}
