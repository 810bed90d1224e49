"""The bytes round a record that say which schema wrote it. Pure; whole columns are split by ``tags``.

Three places are in use::

    payload   00 | schema id, 4 bytes          | [message indexes] | record     the usual one
    payload   01 | schema GUID, 16 bytes       | [message indexes] | record
    header    01 | schema GUID, 16 bytes       | [message indexes]              the payload is the record

The header is ``__value_schema_id``, or ``__key_schema_id`` for keys. Message indexes are there for Protobuf
only: the way to the message in its file, outermost first, as zigzag varints after their count. The first
message of a file, which is what nearly everybody sends, is the single byte 0.
"""

import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

ID_MAGIC = 0
GUID_MAGIC = 1
ID_PREFIX_BYTES = 5
GUID_PREFIX_BYTES = 17
VALUE_HEADER = "__value_schema_id"
KEY_HEADER = "__key_schema_id"
MESSAGE_DEPTH_MAX = 100
"""Of messages within messages, as protoc's own limit on parsing them; a larger count is no index array."""
FIRST_MESSAGE = (0,)

_ID_PREFIX = struct.Struct(">bI")
_VARINT_BYTES_MAX = 5


class WireFormatError(ValueError):
    """Bytes that are not of this format; the text is the reason a row shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Which schema wrote a record: by id or by GUID, and for Protobuf which message of it."""

    schema_id: int | None = None
    guid: str | None = None
    message_indexes: tuple[int, ...] = FIRST_MESSAGE

    def __str__(self) -> str:
        return f"schema id {self.schema_id}" if self.guid is None else f"schema GUID {self.guid}"


def read_tag(data: bytes, *, has_indexes: bool) -> tuple[Tag, int]:
    """The tag at the beginning of a payload or in a header, and where it ends."""
    if not data:
        raise WireFormatError("empty: no magic byte and schema id")
    if data[0] == ID_MAGIC:
        needed, end = "a schema id of 4 bytes", ID_PREFIX_BYTES
    elif data[0] == GUID_MAGIC:
        needed, end = "a schema GUID of 16 bytes", GUID_PREFIX_BYTES
    else:
        raise WireFormatError(
            f"magic byte {data[0]} is neither 0 nor 1: not written with a registry's schema"
        )
    if len(data) < end:
        raise WireFormatError(f"{len(data)} bytes are too few for {needed}")
    indexes, end = read_message_indexes(data, end) if has_indexes else (FIRST_MESSAGE, end)
    if data[0] == GUID_MAGIC:
        return Tag(guid=str(uuid.UUID(bytes=data[1:GUID_PREFIX_BYTES])), message_indexes=indexes), end
    return Tag(schema_id=_ID_PREFIX.unpack_from(data)[1], message_indexes=indexes), end


def read_message_indexes(data: bytes, position: int) -> tuple[tuple[int, ...], int]:
    """The way to a Protobuf message, and where it ends."""
    count, position = _read_zigzag(data, position)
    if count == 0:
        return FIRST_MESSAGE, position
    if not 0 < count <= MESSAGE_DEPTH_MAX:
        raise WireFormatError(f"{count} message indexes; there are 0 to {MESSAGE_DEPTH_MAX}")
    indexes = []
    for _ in range(count):
        index, position = _read_zigzag(data, position)
        indexes.append(index)
    return tuple(indexes), position


def build_prefix(schema_id: int, message_indexes: Sequence[int] | None = None) -> bytes:
    """What stands before a record in its payload; message indexes are for Protobuf."""
    prefix = _ID_PREFIX.pack(ID_MAGIC, schema_id)
    return prefix if message_indexes is None else prefix + build_message_indexes(message_indexes)


def build_message_indexes(message_indexes: Sequence[int]) -> bytes:
    """The way to a Protobuf message as bytes."""
    if tuple(message_indexes) == FIRST_MESSAGE:
        return b"\0"
    return b"".join(_zigzag(number) for number in (len(message_indexes), *message_indexes))


def _read_zigzag(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
        if position >= len(data):
            raise WireFormatError("ends inside the message indexes")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise WireFormatError(f"a message index is longer than {_VARINT_BYTES_MAX} bytes")


def _zigzag(number: int) -> bytes:
    value = (number << 1) ^ (number >> 31)
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
