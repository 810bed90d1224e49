"""Arrow columns into Protobuf messages, all rows of a batch at once.

Every field becomes a binary column of its number and value, nothing where it is not set, and the columns
are joined in the order of numbers: the bytes are those that the runtime would write. A null is a field that
is not set. Numbers must fit, words must be names of the enumeration, and columns that the message does not
know are refused, not dropped.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from penstock.spark.registry.binary_columns import (
    as_lists,
    joined,
    joined_items,
    scalar,
    unsigned_varints,
    with_unsigned_length,
)
from penstock.spark.registry.errors import SchemaUnsupportedError, UnwritableValueError
from penstock.spark.registry.protobuf.scalar_bytes import WIRE_TYPES, scalar_bytes
from penstock.spark.registry.protobuf.spark_types import (
    DURATION,
    JSON_TYPES,
    TIMESTAMP,
    WRAPPERS,
    is_map,
    is_repeated,
    message_of,
)
from penstock.spark.registry.protobuf.well_known import json_bodies, time_parts

SPAN = 2


def encode(values: Any, message: Descriptor) -> Any:
    """A binary column of messages; null where the value is null."""
    return _Encoder(path="").message(values, message)


class _Encoder:
    """At a place in the message; ``path`` is the way there, for errors."""

    def __init__(self, *, path: str) -> None:
        self._path = path

    def message(self, values: Any, message: Descriptor) -> Any:
        """The bodies of messages, without length."""
        name = message.full_name
        if name in (TIMESTAMP, DURATION):
            values = time_parts(values, message, self._path)
        elif name in JSON_TYPES:
            return json_bodies(values, message, self._path)
        elif name in WRAPPERS:
            mask = pc.is_null(values)
            values = pa.StructArray.from_arrays([values], names=["value"], mask=mask)
        if not pa.types.is_struct(values.type):
            raise SchemaUnsupportedError(
                f"{self._path or 'The column'} is {values.type}, which is not written as message {name}."
            )
        return self._body(values, message)

    def _body(self, values: Any, message: Descriptor) -> Any:
        columns = dict(zip([field.name for field in values.type], values.flatten(), strict=True))
        unknown = columns.keys() - message.fields_by_name.keys()
        if unknown:
            raise SchemaUnsupportedError(
                f"{self._path or 'The column'} has {', '.join(sorted(unknown))}, which message"
                f" {message.full_name} has not; leave it out, or register a schema that has it."
            )
        self._check_set(values, columns, message)
        fields = sorted(message.fields, key=lambda field: field.number)
        parts = [self._field(columns[field.name], field) for field in fields if field.name in columns]
        together = joined([pa.repeat(scalar(b""), len(values)), *parts])
        return pc.if_else(pc.is_valid(values), together, scalar(None))

    def _check_set(self, values: Any, columns: dict[str, Any], message: Descriptor) -> None:
        is_there = np.asarray(pc.is_valid(values))
        for field in message.fields:
            if field.is_required and (
                field.name not in columns or np.any(is_there & np.asarray(pc.is_null(columns[field.name])))
            ):
                raise UnwritableValueError(f"{self._at(field.name)}: a required field is not set.")
        for oneof in message.oneofs:
            names = [field.name for field in oneof.fields if field.name in columns]
            count = sum((np.asarray(pc.is_valid(columns[name])).astype(np.int64) for name in names), 0)
            if np.any(count > 1):
                raise UnwritableValueError(
                    f"{self._path or 'The column'}: of {', '.join(names)} only one may be set."
                )

    def _field(self, values: Any, field: FieldDescriptor) -> Any:
        """Number and value of a field, nothing where it is not set."""
        if is_map(field):
            return self._map(values, field)
        if is_repeated(field):
            return self._repeated(values, field)
        tag, body = self._tagged(values, field)
        if not field.has_presence:
            body = pc.if_else(_is_default(values, field), scalar(None), body)
        return pc.coalesce(joined([pa.repeat(scalar(tag), len(values)), body]), scalar(b""))

    def _tagged(self, values: Any, field: FieldDescriptor) -> tuple[bytes, Any]:
        """The number, and the values as they stand after it."""
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            bodies = _Encoder(path=self._at(field.name)).message(values, message_of(field))
            return _tag(field, SPAN), with_unsigned_length(bodies)
        return _tag(field, WIRE_TYPES[field.type]), scalar_bytes(values, field, self._at(field.name))

    def _repeated(self, values: Any, field: FieldDescriptor) -> Any:
        if not pa.types.is_list(values.type):
            raise SchemaUnsupportedError(
                f"{self._at(field.name)} is {values.type}, and the field is repeated; give an array."
            )
        items = values.flatten()
        self._check_no_null(items, field)
        tag, bodies = self._tagged(items, field)
        if not field.is_packed:
            return joined_items(values, joined([pa.repeat(scalar(tag), len(items)), bodies]))
        packed = with_unsigned_length(joined_items(values, bodies))
        is_empty = pc.equal(pc.fill_null(pc.list_value_length(values), 0), 0)
        span = pa.repeat(scalar(_tag(field, SPAN)), len(values))
        return pc.if_else(is_empty, scalar(b""), joined([span, packed]))

    def _map(self, values: Any, field: FieldDescriptor) -> Any:
        if not pa.types.is_map(values.type):
            raise SchemaUnsupportedError(f"{self._at(field.name)} is {values.type}, and the field is a map.")
        lists = as_lists(values)
        keys, items = lists.flatten().flatten()
        self._check_no_null(items, field)
        parts = []
        for part, column in zip(message_of(field).fields, (keys, items), strict=True):
            tag, bodies = _Encoder(path=self._at(field.name))._tagged(column, part)
            parts += [pa.repeat(scalar(tag), len(column)), bodies]
        span = pa.repeat(scalar(_tag(field, SPAN)), len(keys))
        return joined_items(lists, joined([span, with_unsigned_length(joined(parts))]))

    def _check_no_null(self, items: Any, field: FieldDescriptor) -> None:
        if items.null_count:
            raise UnwritableValueError(f"{self._at(field.name)}: Protobuf has no null among repeated values.")

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def _tag(field: FieldDescriptor, wire_type: int) -> bytes:
    number = np.array([field.number << 3 | wire_type], np.uint64)
    encoded: bytes = unsigned_varints(number, pa.array([0]))[0].as_py()
    return encoded


def _is_default(values: Any, field: FieldDescriptor) -> Any:
    if field.type == FieldDescriptor.TYPE_ENUM:
        names = field.enum_type.values_by_number if field.enum_type else {}
        return pc.equal(values, names[0].name if 0 in names else "0")
    if pa.types.is_floating(values.type):
        # Minus zero is not the default, and equal to it.
        width = pa.int32() if values.type == pa.float32() else pa.int64()
        return pc.equal(values.view(width), 0)
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return pc.equal(pc.binary_length(values), 0)
    if pa.types.is_boolean(values.type):
        return pc.invert(values)
    return pc.equal(values, pa.scalar(0, values.type))
