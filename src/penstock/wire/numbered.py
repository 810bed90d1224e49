"""Structs that stand alone, behind two bytes that say what they are.

What the records of internal topics are made of (a key has the number of its type in front, a value the number
of its version), and what consumers tell each other through JoinGroup and SyncGroup.
"""

import struct

from penstock.model.errors import DecodeError
from penstock.wire.compiler import encoder_for
from penstock.wire.schema import Struct

NUMBER_BYTES = 2
"""Where the struct begins."""

_NUMBER = struct.Struct(">h")


def encode_numbered(number: int, value: Struct, *, version: int, flexible: bool) -> bytes:
    """``number``, then ``value``."""
    parts: list[bytes | bytearray] = [bytearray(_NUMBER.pack(number))]
    encoder_for(type(value), version, flexible)(value, parts)
    return b"".join(parts)


def read_number(buffer: bytes | bytearray | memoryview) -> int:
    """The number in front."""
    if len(buffer) < NUMBER_BYTES:
        raise DecodeError(f"{len(buffer)} bytes are too few to begin with a number")
    number: int = _NUMBER.unpack_from(buffer)[0]
    return number
