"""Headers as they stand at the end of records: their count, then name and value of each with their lengths.

All headers of all rows are laid out as one column first. Those of one row follow each other in it, so a row's
are a slice of its bytes that nobody has to copy.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.model.errors import UsageError
from penstock.spark.columns.contents import Content, content_of
from penstock.spark.columns.varints import Integers, varint_column, varint_sizes, zigzag


def tails_of(headers: Any) -> Content | None:
    """What each row's headers are written as; None if no row has any."""
    if pa.types.is_null(headers.type):
        return None
    _check_type(headers.type)
    counts = headers.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if not counts.any():
        return None
    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    pairs = _pairs(headers.flatten())
    pair_offsets = np.frombuffer(pairs.buffers()[1], np.int32, len(pairs) + 1)
    runs = pa.Array.from_buffers(
        pa.binary(), len(counts), [None, pa.py_buffer(pair_offsets[ends]), pairs.buffers()[2]]
    )
    return content_of(pc.binary_join_element_wise(_varints(counts), runs, b""), "headers")


def _check_type(kind: Any) -> None:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not is_list or not pa.types.is_struct(kind.value_type) or _names(kind.value_type) != {"key", "value"}:
        raise UsageError(f"The column headers is {kind}, it must be array<struct<key:string,value:binary>>.")


def _names(header: Any) -> set[str]:
    return {field.name for field in header}


def _pairs(headers: Any) -> Any:
    """Every header of every row as it is written."""
    columns = {field.name: column for field, column in zip(headers.type, headers.flatten(), strict=True)}
    if columns["key"].null_count:
        raise UsageError("A header has no key. Kafka allows no such header: leave it out or name it.")
    names = content_of(columns["key"], "headers.key")
    values = content_of(columns["value"], "headers.value")
    return pc.binary_join_element_wise(
        _varints(names.lengths), names.column, _varints(values.lengths), values.filled(), b""
    )


def _varints(values: Integers) -> Any:
    raw = zigzag(values)
    return varint_column(raw, varint_sizes(raw))
