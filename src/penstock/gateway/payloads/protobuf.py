"""Protobuf payloads to plain values and back.

In front of a message stands which message of the file it is: a list of positions, from the outermost inwards,
in which a single zero byte stands for the first message. Whole numbers stay numbers, unlike in Protobuf's own
JSON, so that they can be compared; bytes are text ``0x...``.
"""

import math
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from penstock.records.varint import encode_varint, read_varint
from penstock.schemas import ParsedSchema
from penstock.schemas.protobuf.content import ProtobufContent

_DEPTH_MAX = 32
_WELL_KNOWN = "google.protobuf."


def protobuf_reader(schema: ParsedSchema) -> Callable[[bytes], Any]:
    """A function that makes plain values of bytes."""
    content = _content(schema)

    def read(payload: bytes) -> Any:
        way, position = message_way(payload)
        message = GetMessageClass(_descriptor(content, way))()
        message.ParseFromString(payload[position:])
        return _plain_message(message)

    return read


def protobuf_writer(schema: ParsedSchema) -> Callable[[Any], bytes]:
    """A function that makes bytes of plain values: of the first message of the file."""
    content = _content(schema)

    def write(document: Any) -> bytes:
        message = GetMessageClass(_descriptor(content, (0,)))()
        json_format.ParseDict(document, message)
        return encode_varint(0) + message.SerializeToString()

    return write


def message_way(payload: bytes) -> tuple[tuple[int, ...], int]:
    """Which message of the file it is, and where its bytes begin."""
    count, position = read_varint(payload, 0)
    if not 0 <= count <= _DEPTH_MAX:
        raise ValueError(f"the message is said to be nested {count} deep")
    way: list[int] = []
    for _ in range(count):
        index, position = read_varint(payload, position)
        way.append(index)
    return tuple(way) or (0,), position


def _content(schema: ParsedSchema) -> ProtobufContent:
    content = schema.content
    if not isinstance(content, ProtobufContent):
        raise TypeError(f"a schema of kind {schema.kind} is not Protobuf")
    return content


def _descriptor(content: ProtobufContent, way: tuple[int, ...]) -> Descriptor:
    declared = content.main.message_type
    name = content.main.package
    for index in way:
        if not 0 <= index < len(declared):
            raise ValueError(f"the file has no message at {'.'.join(map(str, way))}")
        name = f"{name}.{declared[index].name}" if name else declared[index].name
        declared = declared[index].nested_type
    found: Descriptor = content.pool.FindMessageTypeByName(name)
    return found


def _plain_message(message: Message) -> Any:
    descriptor = message.DESCRIPTOR
    if descriptor.full_name.startswith(_WELL_KNOWN):
        return json_format.MessageToDict(message, preserving_proto_field_name=True)
    return {
        field.name: _plain_field(field, getattr(message, field.name))
        for field in descriptor.fields
        if not field.has_presence or message.HasField(field.name)
    }


def _plain_field(field: Any, value: Any) -> Any:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        of_value = entry.fields_by_name["value"]
        return {str(key): _plain_value(of_value, value[key]) for key in value}
    if field.is_repeated:
        return [_plain_value(field, each) for each in value]
    return _plain_value(field, value)


def _plain_value(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return _plain_message(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return value if known is None else known.name
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
