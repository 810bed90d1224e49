"""Columns of encoded values: each row holds the bytes of one value, and nulls stay null."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.spark.registry.cursor import Numbers
from penstock.spark.registry.payloads import Bytes

END_OF_BLOCKS = b"\0"


def scalar(value: bytes | None) -> Any:
    """The same bytes for every row."""
    return pa.scalar(value, pa.binary())


def varint(number: int) -> bytes:
    """One number as a zigzag varint."""
    encoded: bytes = varints(pa.array([number], pa.int64()))[0].as_py()
    return encoded


def varints(values: Any) -> Any:
    """Integers as zigzag varints."""
    numbers = pc.fill_null(values.cast(pa.int64()), 0).to_numpy()
    return unsigned_varints(((numbers << 1) ^ (numbers >> 63)).view(np.uint64), values)


def unsigned_varints(numbers: Numbers, like: Any) -> Any:
    """Numbers of 64 bits as varints; null where ``like`` is null."""
    rest = numbers.copy()
    sizes = np.ones(len(numbers), np.int64)
    for limit in range(7, 64, 7):
        sizes += rest >= np.uint64(1 << limit)
    offsets = np.zeros(len(numbers) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    for index in range(int(sizes.max(initial=0))):
        rows = np.flatnonzero(sizes > index)
        goes_on = (sizes[rows] > index + 1).astype(np.uint8) << 7
        data[offsets[rows] + index] = (rest[rows] & np.uint64(0x7F)).astype(np.uint8) | goes_on
        rest[rows] >>= np.uint64(7)
    return _binary(offsets, data, like)


def table_rows(table: Bytes, like: Any) -> Any:
    """A table's rows as values of that many bytes; null where ``like`` is null."""
    offsets = np.arange(0, table.size + 1, max(table.shape[1], 1), dtype=np.int32)
    if table.shape[1] == 0:
        offsets = np.zeros(len(table) + 1, np.int32)
    return _binary(offsets, np.ascontiguousarray(table).reshape(-1), like)


def floats(values: Any) -> Any:
    """Numbers of four or eight bytes, lowest first."""
    numbers = pc.fill_null(values, 0.0).to_numpy()
    size = numbers.dtype.itemsize
    return table_rows(numbers.astype(f"<f{size}").view(np.uint8).reshape(-1, size), values)


def with_length(values: Any) -> Any:
    """Bytes after their own length as a zigzag varint."""
    return joined([varints(pc.binary_length(values)), values])


def with_unsigned_length(values: Any) -> Any:
    """Bytes after their own length as a varint."""
    sizes = pc.fill_null(pc.binary_length(values), 0).to_numpy().astype(np.uint64)
    return joined([unsigned_varints(sizes, values), values])


def joined(columns: list[Any]) -> Any:
    """What stands side by side, one after the other; null if any of it is null."""
    return pc.binary_join_element_wise(*columns, scalar(b""))


def joined_items(lists: Any, items: Any) -> Any:
    """The encoded items of all lists, those of each list one after the other; nothing for a null list."""
    counts = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum(counts.to_numpy(), out=offsets[1:])
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), items), scalar(b""))


def blocks(lists: Any, items: Any) -> Any:
    """The encoded items of all lists, each list as one of Avro's blocks: count, items, and the end."""
    counts = pc.fill_null(pc.list_value_length(lists), 0)
    together = joined_items(lists, items)
    full = joined([varints(counts), together, pa.repeat(scalar(END_OF_BLOCKS), len(lists))])
    encoded = pc.if_else(pc.equal(counts, 0), scalar(END_OF_BLOCKS), full)
    return pc.if_else(pc.is_valid(lists), encoded, scalar(None))


def as_lists(maps: Any) -> Any:
    """Maps as lists of pairs, which are the same bytes."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], names=["key", "value"])
    own_buffers = maps.buffers()[:2]
    return pa.Array.from_buffers(pa.list_(entries.type), len(maps), own_buffers, -1, maps.offset, [entries])


def _binary(offsets: Any, data: Bytes, like: Any) -> Any:
    column = pa.Array.from_buffers(pa.binary(), len(like), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return pc.if_else(pc.is_valid(like), column, scalar(None)) if like.null_count else column
