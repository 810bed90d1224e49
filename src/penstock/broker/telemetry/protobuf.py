"""Reading protobuf's wire format, of strangers: fields one by one, with a bound on how many.

Nothing here knows what the fields mean. Whatever the bytes are, either fields come out or ``DecodeError``
does; nothing is copied, and nothing calls itself.
"""

import struct
from collections.abc import Iterator
from typing import TypeAlias

from penstock.model.errors import DecodeError
from penstock.model.limits import TELEMETRY_FIELDS_MAX

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types; the two that are missing are groups, which OpenTelemetry does not use."""

FieldValue: TypeAlias = "int | memoryview"
"""A varint as a number; everything else as the bytes it lies in."""

Field: TypeAlias = tuple[int, int, FieldValue]
"""Number, wire type, value."""

_VARINT_BYTES_MAX = 10
_SIZES = {FIXED64: 8, FIXED32: 4}
_DOUBLE = struct.Struct("<d")
_SIGNED = struct.Struct("<q")
_UNSIGNED = struct.Struct("<Q")


class FieldReader:
    """Reads messages of one push; they share the bound."""

    def __init__(self, fields_max: int = TELEMETRY_FIELDS_MAX) -> None:
        self._fields_max = fields_max
        self._fields_left = fields_max

    def fields(self, message: memoryview) -> Iterator[Field]:
        """The fields of a message, in their order."""
        position, end = 0, len(message)
        while position < end:
            self._fields_left -= 1
            if self._fields_left < 0:
                raise DecodeError(f"more than {self._fields_max} protobuf fields")
            tag, position = read_varint(message, position)
            wire_type = tag & 7
            if wire_type == VARINT:
                value, position = read_varint(message, position)
                yield tag >> 3, wire_type, value
                continue
            size, position = _size(message, position, wire_type)
            if size > end - position:
                raise DecodeError(f"a protobuf field of {size} bytes has only {end - position}")
            yield tag >> 3, wire_type, message[position : position + size]
            position += size

    def messages(self, message: memoryview, number: int) -> Iterator[memoryview]:
        """The fields of that number that hold bytes: text, or messages."""
        for found, wire_type, value in self.fields(message):
            if found == number and wire_type == BYTES:
                assert isinstance(value, memoryview)
                yield value


def read_varint(message: memoryview, position: int) -> tuple[int, int]:
    """An unsigned number of up to 64 bits, and where it ends."""
    value = shift = 0
    for byte in message[position : position + _VARINT_BYTES_MAX]:
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
    raise DecodeError("a protobuf number does not end")


def text(value: FieldValue) -> str:
    """A text; what is no UTF-8 is replaced, since only people will read it."""
    return str(value, "utf-8", "replace") if isinstance(value, memoryview) else str(value)


def double(value: FieldValue) -> float:
    """A floating-point number of eight bytes."""
    return float(_unpack(_DOUBLE, value))


def signed(value: FieldValue) -> int:
    """A whole number of eight bytes."""
    return int(_unpack(_SIGNED, value))


def unsigned(value: FieldValue) -> int:
    """A whole number of eight bytes that is never negative."""
    return int(_unpack(_UNSIGNED, value))


def _size(message: memoryview, position: int, wire_type: int) -> tuple[int, int]:
    if wire_type == BYTES:
        return read_varint(message, position)
    if wire_type not in _SIZES:
        raise DecodeError(f"protobuf wire type {wire_type} is not used")
    return _SIZES[wire_type], position


def _unpack(form: struct.Struct, value: FieldValue) -> float:
    if not isinstance(value, memoryview) or len(value) != form.size:
        raise DecodeError(f"a protobuf number is not of {form.size} bytes")
    number: float = form.unpack(value)[0]
    return number
