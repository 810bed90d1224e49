"""The kinds of value a field can hold, varints, and the errors that reading them ends in.

A peer's bytes are hostile until read: every function here answers nonsense with ``DecodeError``, or with
``IndexError`` where the generated reader turns that into one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from penstock.model.errors import DecodeError, InvariantError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.model.limits import TAGGED_FIELD_BYTES_MAX, TAGGED_FIELDS_MAX

T = TypeVar("T")

STRING_BYTES_MAX = 0x7FFF
"""A string is never longer, in compact form either, since its classic length is an int16."""

UVARINT_BYTES_MAX = 5
_UVARINT_MAX = 0xFFFF_FFFF
_IN_MEMORY = (bytes, bytearray)


class SizedRecords(Protocol):
    """Record batches that lie elsewhere (in files, say): the wire need only know how many bytes follow."""

    @property
    def size(self) -> int:
        """Bytes this payload will put on the wire."""


RecordsPayload = bytes | bytearray | memoryview | SizedRecords
"""What may be put where a message carries records; reading always gives a ``memoryview`` of the frame."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of value. Fixed-size kinds have a ``struct`` code; the others have a length before them."""

    name: str
    default: T
    code: str = ""
    size: int = 0

    @property
    def is_fixed(self) -> bool:
        """Whether every value takes the same number of bytes."""
        return self.code != ""


BOOLEAN: Kind[bool] = Kind("boolean", False, "?", 1)
INT8: Kind[int] = Kind("int8", 0, "b", 1)
INT16: Kind[int] = Kind("int16", 0, "h", 2)
INT32: Kind[int] = Kind("int32", 0, "i", 4)
INT64: Kind[int] = Kind("int64", 0, "q", 8)
UINT16: Kind[int] = Kind("uint16", 0, "H", 2)
UINT32: Kind[int] = Kind("uint32", 0, "I", 4)
FLOAT64: Kind[float] = Kind("float64", 0.0, "d", 8)
UUID: Kind[bytes] = Kind("uuid", bytes(16), "16s", 16)
TOPIC_ID: Kind[TopicId] = Kind("uuid", ZERO_TOPIC_ID, "16s", 16)
STRING: Kind[str] = Kind("string", "")
BYTES: Kind[bytes] = Kind("bytes", b"")
"""Opaque bytes, copied out of the frame so that they can be compared, hashed and kept."""
RECORDS: Kind[RecordsPayload] = Kind("records", b"")
"""Record batches: the only bytes that are never copied."""
PRODUCED_RECORDS: Kind[memoryview | bytearray] = Kind("records", memoryview(b""))
"""Record batches on their way into a log, which stamps them in place: writable if the frame is."""


def encode_uvarint(value: int) -> bytes:
    """``value`` in groups of seven bits, lowest first."""
    if not 0 <= value <= _UVARINT_MAX:
        raise InvariantError(f"{value} does not fit an unsigned varint of {UVARINT_BYTES_MAX} bytes")
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_string_length(length_plus_one: int) -> bytes:
    """The compact length of a string that needs more than one byte for it."""
    if length_plus_one > STRING_BYTES_MAX + 1:
        raise InvariantError(f"string is {length_plus_one - 1} bytes long, the limit is {STRING_BYTES_MAX}")
    return encode_uvarint(length_plus_one)


def read_uvarint(view: memoryview, position: int) -> tuple[int, int]:
    """The unsigned varint at ``position``, and the position after it."""
    first = view[position]
    return finish_uvarint(view, position + 1, first) if first > 0x7F else (first, position + 1)


def finish_uvarint(view: memoryview, position: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte is known to be not its last."""
    value = first & 0x7F
    for shift in range(7, 7 * UVARINT_BYTES_MAX, 7):
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    else:
        raise DecodeError(f"varint is longer than {UVARINT_BYTES_MAX} bytes")
    if value > _UVARINT_MAX:
        raise DecodeError(f"varint {value} does not fit 32 bits")
    return value, position


def read_tag(view: memoryview, position: int, previous: int) -> tuple[int, int, int]:
    """The next tagged field's tag, where its value begins, and where it ends; tags only ever grow."""
    tag, position = read_uvarint(view, position)
    size, position = read_uvarint(view, position)
    if tag <= previous:
        raise DecodeError(f"tag {tag} follows tag {previous}")
    if position + size > len(view):
        raise DecodeError(f"tagged field {tag} has {size} bytes, {len(view) - position} remain")
    return tag, position, position + size


def skip_tag(tag: int, position: int, stop: int) -> int:
    """The position after a tagged field that means nothing to us, and so must not be large."""
    if stop - position > TAGGED_FIELD_BYTES_MAX:
        size = stop - position
        raise DecodeError(
            f"unknown tagged field {tag} has {size} bytes, the limit is {TAGGED_FIELD_BYTES_MAX}"
        )
    return stop


def check_tag_count(count: int, budget: int) -> int:
    """What is left of a message's budget of elements after ``count`` tagged fields."""
    if count > TAGGED_FIELDS_MAX:
        raise DecodeError(f"struct has {count} tagged fields, the limit is {TAGGED_FIELDS_MAX}")
    if count > budget:
        raise DecodeError("message has too many elements and tagged fields")
    return budget - count


def skip_tags(view: memoryview, position: int, count: int) -> int:
    """The position after ``count`` tagged fields, none of which means anything to us."""
    tag = -1
    for _ in range(count):
        tag, position, stop = read_tag(view, position, tag)
        position = skip_tag(tag, position, stop)
    return position


def read_uuids(view: memoryview, position: int, count: int) -> tuple[bytes, ...]:
    """``count`` UUIDs as raw bytes."""
    return tuple([bytes(view[start : start + 16]) for start in range(position, position + 16 * count, 16)])


def payload_size(payload: RecordsPayload) -> int:
    """Bytes that ``payload`` puts on the wire."""
    if isinstance(payload, memoryview):
        return payload.nbytes
    return len(payload) if isinstance(payload, _IN_MEMORY) else payload.size


def wrong_length(path: str, length: int, remaining: int) -> DecodeError:
    """The error for a length that is negative, null where null is not allowed, or beyond the frame."""
    return DecodeError(f"{path}: length {length} with {remaining} bytes remaining")


def wrong_count(path: str, count: int, remaining: int) -> DecodeError:
    """The error for an array that is null, cannot fit into the frame, or exceeds the budget."""
    return DecodeError(f"{path}: {count} elements with {remaining} bytes remaining")


def wrong_marker(path: str, marker: int, absent: int) -> DecodeError:
    """The error for a nullable struct that is neither there (1) nor absent."""
    return DecodeError(f"{path}: {marker} where 1 or {absent} was expected")


DECODING: dict[str, Callable[..., object]] = {
    "finish_uvarint": finish_uvarint,
    "read_tag": read_tag,
    "check_tag_count": check_tag_count,
    "skip_tag": skip_tag,
    "skip_tags": skip_tags,
    "read_uuids": read_uuids,
    "wrong_length": wrong_length,
    "wrong_count": wrong_count,
    "wrong_marker": wrong_marker,
}
"""What a generated reader may call."""

ENCODING: dict[str, Callable[..., object]] = {
    "encode_uvarint": encode_uvarint,
    "encode_string_length": encode_string_length,
    "payload_size": payload_size,
}
"""What a generated writer may call."""
