"""Zigzag variable-length integers, as records use them (the wire's compact types are unsigned: not these)."""

from penstock.records.errors import CorruptBatchError

_VARINT_BITS_MAX = 35
_VARLONG_BITS_MAX = 70


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """A 32-bit value and the position after it; IndexError when the bytes end before it does."""
    raw = data[position]
    if raw < 0x80:
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(data, position, bits_max=_VARINT_BITS_MAX)


def read_varlong(data: bytes, position: int) -> tuple[int, int]:
    """A 64-bit value and the position after it; IndexError when the bytes end before it does."""
    raw = data[position]
    if raw < 0x80:
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(data, position, bits_max=_VARLONG_BITS_MAX)


def _read_long(data: bytes, position: int, *, bits_max: int) -> tuple[int, int]:
    raw = shift = 0
    while shift < bits_max:
        byte = data[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            _check_width(raw, bits_max)
            return (raw >> 1) ^ -(raw & 1), position
        shift += 7
    raise CorruptBatchError(f"A variable-length integer is longer than {bits_max // 7} bytes.")


def _check_width(raw: int, bits_max: int) -> None:
    width = 32 if bits_max == _VARINT_BITS_MAX else 64
    if raw >> width:
        raise CorruptBatchError(f"A variable-length integer does not fit into {width} bits.")


def encode_varint(value: int) -> bytes:
    """The shortest form of a value of up to 64 bits."""
    raw = (value << 1) ^ (value >> 63)
    if raw < 0x80:
        return _ONE_BYTE[raw]
    encoded = bytearray()
    while raw >= 0x80:
        encoded.append(raw & 0x7F | 0x80)
        raw >>= 7
    encoded.append(raw)
    return bytes(encoded)


_ONE_BYTE = tuple(bytes((raw,)) for raw in range(0x80))
