"""Decimals as Avro writes them, big-endian two's complement of any length, and as Arrow's 16 bytes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.spark.registry.payloads import Bytes, Offsets, Payloads, column_of, payloads_of

DECIMAL_BYTES = 16


def decimals(values: Any, precision: int, scale: int) -> Any:
    """Big-endian two's complement as a decimal column; refused if a number has too many digits."""
    payloads = payloads_of(values)
    is_valid = values.is_valid().to_numpy(zero_copy_only=False)
    sizes = np.where(is_valid, payloads.ends - payloads.starts, 0)
    if np.any(is_valid & (sizes == 0)):
        raise ValueError("a decimal of no bytes")
    number = _little_endian(payloads, sizes)
    _check_digits(number, precision)
    wanted = pa.decimal128(precision, scale)
    return pa.Array.from_buffers(wanted, len(values), [_validity(values), pa.py_buffer(number)])


def shortest_bytes(values: Any) -> Any:
    """A decimal column as the fewest bytes that hold each number."""
    table = _big_endian(values)
    ends = DECIMAL_BYTES * np.arange(1, len(table) + 1)
    column = column_of(Payloads(data=table.reshape(-1), starts=ends - _sizes(table), ends=ends))
    return pc.if_else(pc.is_valid(values), column, pa.scalar(None, pa.binary()))


def fixed_bytes(values: Any, size: int) -> Bytes:
    """A decimal column as a table of so many bytes for each number."""
    table = _big_endian(values)
    if np.any(_sizes(table) > size):
        raise ValueError(f"a decimal does not fit into {size} bytes")
    sign = np.where(table[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0))
    return np.concatenate([np.repeat(sign, max(size - DECIMAL_BYTES, 0), axis=1), table[:, -size:]], axis=1)


def _big_endian(values: Any) -> Bytes:
    """Nulls become 0."""
    filled = pc.fill_null(values, pa.scalar(0, values.type)) if values.null_count else values
    data = np.frombuffer(filled.buffers()[1], np.uint8).reshape(-1, DECIMAL_BYTES)
    return np.ascontiguousarray(data[filled.offset : filled.offset + len(filled), ::-1])


def _sizes(table: Bytes) -> Offsets:
    """How many of the last bytes are needed, one of them with the sign on top."""
    sign = np.where(table[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0))
    is_needed = np.concatenate([table[:, :-1] != sign, np.ones((len(table), 1), bool)], axis=1)
    first = np.argmax(is_needed, axis=1)
    top = table[np.arange(len(table)), first]
    sizes: Offsets = DECIMAL_BYTES - first + ((top ^ sign[:, 0]) >= 0x80)
    return sizes


def _little_endian(payloads: Payloads, sizes: Offsets) -> Bytes:
    """A row of 16 bytes for each number, lowest first, filled up with its sign."""
    data = payloads.data if len(payloads.data) else np.zeros(1, np.uint8)
    is_negative = (sizes > 0) & (data[np.where(sizes > 0, payloads.starts, 0)] >= 0x80)
    sign = np.where(is_negative, 0xFF, 0).astype(np.uint8)
    number = np.repeat(sign[:, None], DECIMAL_BYTES, axis=1)
    for index in range(int(sizes.max(initial=0))):
        has_byte = index < sizes
        byte = np.where(has_byte, data[np.where(has_byte, payloads.ends - 1 - index, 0)], sign)
        if index < DECIMAL_BYTES:
            number[:, index] = byte
        elif np.any(byte != sign):
            raise ValueError(f"a decimal of over {DECIMAL_BYTES} bytes")
    return np.ascontiguousarray(number)


def _check_digits(number: Bytes, precision: int) -> None:
    """Compares by halves, since numpy has no integers of 128 bits."""
    halves = number.view("<u8")
    is_negative = number[:, -1] >= 0x80
    # The complement of a negative number x is |x| - 1.
    flip = np.where(is_negative, np.uint64(2**64 - 1), np.uint64(0))
    low, high = halves[:, 0] ^ flip, halves[:, 1] ^ flip
    most = 10**precision - 1
    is_over = np.where(is_negative, _is_over(high, low, most - 1), _is_over(high, low, most))
    if np.any(is_over):
        raise ValueError(f"a decimal of over {precision} digits")


def _is_over(high: Any, low: Any, most: int) -> Any:
    most_high, most_low = np.uint64(most >> 64), np.uint64(most & (2**64 - 1))
    return (high > most_high) | ((high == most_high) & (low > most_low))


def _validity(values: Any) -> Any:
    return values.buffers()[0] if values.offset == 0 else pc.is_valid(values).buffers()[1]
