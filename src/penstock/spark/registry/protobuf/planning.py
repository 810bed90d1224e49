"""From a message's descriptor to readers of columns."""

from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from penstock.spark.registry.arrow_types import arrow_type
from penstock.spark.registry.column_lists import NotInColumnsError
from penstock.spark.registry.cursor import Cursor
from penstock.spark.registry.protobuf.column_readers import (
    FIXED32,
    FIXED64,
    Body,
    FieldPlan,
    FixedNumbers,
    Messages,
    Spans,
    ValueReader,
    Varints,
)
from penstock.spark.registry.protobuf.row_decoding import MICROS, scalar_column
from penstock.spark.registry.protobuf.spark_types import (
    DURATION,
    JSON_TYPES,
    TIMESTAMP,
    WRAPPERS,
    field_type,
    is_map,
    is_repeated,
    message_of,
    names_of,
    spark_type,
)

_VARINTS = {
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_SINT32: "sint32",
    FieldDescriptor.TYPE_SINT64: "sint64",
    FieldDescriptor.TYPE_BOOL: "bool",
}
_FIXED = {
    FieldDescriptor.TYPE_DOUBLE: "<f8",
    FieldDescriptor.TYPE_FLOAT: "<f4",
    FieldDescriptor.TYPE_FIXED32: "<u4",
    FieldDescriptor.TYPE_FIXED64: "<u8",
    FieldDescriptor.TYPE_SFIXED32: "<i4",
    FieldDescriptor.TYPE_SFIXED64: "<i8",
}


def plan(message: Descriptor) -> Body:
    """The reader of a column of such messages."""
    name = message.full_name
    if name in JSON_TYPES:
        raise NotInColumnsError(f"{name} becomes JSON")
    fields = tuple(_field(field) for field in message.fields)
    if name in (TIMESTAMP, DURATION):
        wanted = arrow_type(spark_type(message))
        return Body(
            fields=fields, wanted=wanted, finish=lambda cursor, *two: _micros(cursor, *two).view(wanted)
        )
    if name in WRAPPERS:
        return Body(fields=fields, wanted=fields[0].wanted, finish=lambda _, value: value)
    return Body(fields=fields, wanted=arrow_type(spark_type(message)))


def _field(field: FieldDescriptor) -> FieldPlan:
    wanted = arrow_type(field_type(field))
    if is_map(field):
        return FieldPlan(number=field.number, reader=_entries(field), wanted=wanted, is_repeated=True)
    oneof = field.containing_oneof
    return FieldPlan(
        number=field.number,
        reader=_reader(field),
        wanted=wanted,
        default=None
        if field.has_presence or is_repeated(field)
        else scalar_column([field.default_value], field),
        is_repeated=is_repeated(field),
        oneof=oneof.name if oneof is not None and len(oneof.fields) > 1 else None,
    )


def _entries(field: FieldDescriptor) -> Messages:
    """The pairs of a map; what a pair leaves out is the value for "not set"."""
    wanted = arrow_type(field_type(field))
    parts = []
    for part, part_type in zip(message_of(field).fields, (wanted.key_type, wanted.item_type), strict=True):
        is_message = part.type == FieldDescriptor.TYPE_MESSAGE
        default = None if is_message else scalar_column([part.default_value], part)
        parts.append(
            FieldPlan(
                number=part.number,
                reader=_reader(part),
                wanted=part_type,
                default=default,
                is_needed=is_message,
            )
        )
    pair = pa.struct([wanted.key_field, wanted.item_field])
    return Messages(body=Body(fields=tuple(parts), wanted=pair))


def _reader(field: FieldDescriptor) -> ValueReader:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return Messages(body=plan(message_of(field)))
    if field.type in _VARINTS:
        return Varints(kind=_VARINTS[field.type])
    if field.type in _FIXED:
        dtype = _FIXED[field.type]
        return FixedNumbers(dtype=dtype, wire_type=FIXED64 if dtype.endswith("8") else FIXED32)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return Varints(kind="enum", names=_names(field))
    return Spans(wanted=pa.string() if field.type == FieldDescriptor.TYPE_STRING else pa.binary())


def _names(field: FieldDescriptor) -> tuple[Any, Any, bool]:
    """Numbers and their names; a closed enumeration has no other numbers."""
    known = names_of(field)
    numbers, words = pa.array(list(known), pa.int32()), pa.array(list(known.values()), pa.string())
    return numbers, words, bool(field.enum_type and field.enum_type.is_closed)


def _micros(cursor: Cursor, seconds: Any, nanos: Any) -> Any:
    whole = seconds.to_numpy()
    limit = 2**63 // MICROS - 1
    is_beyond = (whole < -limit) | (whole > limit)
    cursor.mark_bad(is_beyond)
    return pa.array(np.where(is_beyond, 0, whole) * MICROS + nanos.to_numpy().astype(np.int64) // 1000)
