"""Protobuf records into an Arrow column by the runtime's own parser: for every schema, and with reasons.

Messages are parsed one by one; columns are then built field by field, over all messages.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from penstock.spark.registry.arrow_types import arrow_type
from penstock.spark.registry.isolation import build_column
from penstock.spark.registry.payloads import Decoded, Payloads
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

MICROS = 1_000_000


class RowDecoder:
    """Reads messages of one type."""

    def __init__(self, message: Descriptor) -> None:
        self._message = message
        self._class = GetMessageClass(message)

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""
        messages: list[Any] = []
        reasons: dict[int, str] = {}
        for row, payload in enumerate(payloads):
            try:
                messages.append(self._class.FromString(payload))
            except DecodeError as error:
                reasons[row] = f"no message {self._message.full_name}: {error}"
                messages.append(None)
        return build_column(messages, lambda part: message_column(part, self._message), reasons)


def message_column(messages: Sequence[Any], descriptor: Descriptor) -> Any:
    """A column of messages, null for None."""
    wanted = arrow_type(spark_type(descriptor))
    name = descriptor.full_name
    if name in (TIMESTAMP, DURATION):
        return pa.array([None if each is None else _micros(each) for each in messages], pa.int64()).view(
            wanted
        )
    if name in JSON_TYPES:
        return pa.array([None if each is None else _json(each) for each in messages], wanted)
    if name in WRAPPERS:
        value = descriptor.fields_by_name["value"]
        return scalar_column([None if each is None else each.value for each in messages], value)
    columns = [field_column(messages, field) for field in descriptor.fields]
    mask = pa.array([each is None for each in messages], pa.bool_())
    if not columns:
        return pa.array([None if each is None else {} for each in messages], wanted)
    return pa.StructArray.from_arrays(columns, fields=list(wanted), mask=mask)


def field_column(messages: Sequence[Any], field: FieldDescriptor) -> Any:
    """A column of one field of messages."""
    if is_map(field):
        return _map_column(messages, field)
    if is_repeated(field):
        lists = [() if each is None else getattr(each, field.name) for each in messages]
        items = value_column([item for items in lists for item in items], field)
        return _lists(lists, arrow_type(field_type(field)), items)
    if field.has_presence:
        values = [
            getattr(each, field.name) if each is not None and each.HasField(field.name) else None
            for each in messages
        ]
    else:
        values = [None if each is None else getattr(each, field.name) for each in messages]
    return value_column(values, field)


def value_column(values: Sequence[Any], field: FieldDescriptor) -> Any:
    """A column of single values of a field's type."""
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return message_column(values, message_of(field))
    return scalar_column(values, field)


def scalar_column(values: Sequence[Any], field: FieldDescriptor) -> Any:
    """A column of numbers, texts, or names of an enumeration."""
    if field.type == FieldDescriptor.TYPE_ENUM:
        names = names_of(field)
        words = [None if value is None else names.get(value, str(value)) for value in values]
        return pa.array(words, pa.string())
    if field.type in (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64):
        return pa.array(values, pa.decimal128(20, 0))
    return pa.array(values, arrow_type(_scalar_type(field)))


def _scalar_type(field: FieldDescriptor) -> Any:
    type_ = field_type(field)
    return type_.elementType if is_repeated(field) else type_  # type: ignore[attr-defined]


def _map_column(messages: Sequence[Any], field: FieldDescriptor) -> Any:
    entry = message_of(field).fields_by_name
    maps = [{} if each is None else getattr(each, field.name) for each in messages]
    keys = scalar_column([key for each in maps for key in each], entry["key"])
    values = value_column([each[key] for each in maps for key in each], entry["value"])
    wanted = arrow_type(field_type(field))
    entries = pa.StructArray.from_arrays([keys, values], fields=[wanted.key_field, wanted.item_field])
    return _lists(maps, wanted, entries)


def _lists(lists: Sequence[Any], wanted: Any, items: Any) -> Any:
    offsets = pa.array(accumulate(map(len, lists), initial=0), pa.int32())
    return pa.Array.from_buffers(wanted, len(lists), [None, offsets.buffers()[1]], 0, 0, [items])


def _micros(each: Any) -> int:
    return int(each.seconds * MICROS + each.nanos // 1000)


def _json(each: Any) -> str:
    return json_format.MessageToJson(each, indent=None)
