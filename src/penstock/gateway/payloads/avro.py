"""Avro payloads to plain values and back, with fastavro.

Plain values are what JSON has. Bytes are text ``0x...``, moments ISO 8601, decimals text with all their
digits; a writer takes the same.
"""

import datetime
import decimal
import io
import json
import math
import uuid
from collections.abc import Callable
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer

from penstock.gateway.payloads.avro_values import AvroValues


def avro_reader(text: str) -> Callable[[bytes], Any]:
    """A function that makes plain values of bytes."""
    schema = parse_schema(json.loads(text))

    def read(payload: bytes) -> Any:
        stream = io.BytesIO(payload)
        value = schemaless_reader(stream, schema, None)
        if stream.tell() != len(payload):
            raise ValueError(f"{len(payload) - stream.tell()} bytes are left over")
        return plain(value)

    return read


def avro_writer(text: str) -> Callable[[Any], bytes]:
    """A function that makes bytes of plain values."""
    document = json.loads(text)
    schema, values = parse_schema(document), AvroValues(document)

    def write(value: Any) -> bytes:
        stream = io.BytesIO()
        schemaless_writer(stream, schema, values.datum(value), strict=True)
        return stream.getvalue()

    return write


def plain(value: Any) -> Any:
    """A value of fastavro's as JSON has it."""
    match value:
        case dict():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case bytes() | bytearray():
            return f"0x{value.hex()}"
        case float() if not math.isfinite(value):
            return str(value)
        case decimal.Decimal() | uuid.UUID():
            return str(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return value
