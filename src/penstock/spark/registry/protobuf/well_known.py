"""Columns of times and of JSON as the well-known messages that stand for them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message_factory import GetMessageClass

from penstock.spark.registry.errors import SchemaUnsupportedError, UnwritableValueError
from penstock.spark.registry.protobuf.spark_types import TIMESTAMP

MICROS = 1_000_000


def time_parts(values: Any, message: Descriptor, path: str) -> Any:
    """Timestamps or durations as structs of seconds and nanoseconds."""
    is_timestamp = message.full_name == TIMESTAMP
    is_fitting = pa.types.is_timestamp(values.type) if is_timestamp else pa.types.is_duration(values.type)
    if not is_fitting:
        raise SchemaUnsupportedError(
            f"{path or 'The column'} is {values.type}, which is not written as {message.full_name}; cast it."
        )
    unit = pa.timestamp("us", tz=values.type.tz) if is_timestamp else pa.duration("us")
    micros = pc.fill_null(values.cast(unit).view(pa.int64()), 0).to_numpy()
    # Both parts of a duration have one sign; those of a timestamp count up from a second that is over.
    whole = micros // MICROS
    seconds = whole if is_timestamp else whole + ((micros < 0) & (micros % MICROS != 0))
    nanos = ((micros - seconds * MICROS) * 1000).astype(np.int32)
    return pa.StructArray.from_arrays(
        [pa.array(seconds), pa.array(nanos)], names=["seconds", "nanos"], mask=pc.is_null(values)
    )


def json_bodies(values: Any, message: Descriptor, path: str) -> Any:
    """Texts of JSON as the messages that JSON becomes, one by one."""
    if not pa.types.is_string(values.type):
        raise SchemaUnsupportedError(
            f"{path or 'The column'} is {values.type}; {message.full_name} is JSON text."
        )
    known = GetMessageClass(message)
    return pa.array([_json_body(text, known, path) for text in values.to_pylist()], pa.binary())


def _json_body(text: str | None, known: Any, path: str) -> bytes | None:
    if text is None:
        return None
    try:
        body: bytes = json_format.Parse(text, known()).SerializeToString(deterministic=True)
    except json_format.ParseError as error:
        raise UnwritableValueError(f"{path or 'The column'}: {error}") from error
    return body
