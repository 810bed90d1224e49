"""What rows hold for the records they become: contents as binary columns, lengths and times as numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.model.errors import UsageError
from penstock.spark.columns.varints import Integers, varint_column, varint_sizes, zigzag

COLUMNS = ("key", "value", "headers", "timestamp_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A column of bytes, and how long each is; -1 is a null."""

    column: Any
    lengths: Integers

    def sliced(self, start: int, count: int) -> "Content":
        """Some rows of it."""
        return Content(column=self.column.slice(start, count), lengths=self.lengths[start : start + count])

    def filled(self) -> Any:
        """The column with empty bytes for nulls, which joining takes as they are."""
        return self.column.fill_null(b"") if self.column.null_count else self.column


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """All that is written of the rows."""

    first_row: int
    keys: Content
    values: Content
    tails: Content | None
    """Headers as they are written, count included; None if there are none in any row."""
    timestamps: Integers

    def __len__(self) -> int:
        return len(self.timestamps)

    def sliced(self, start: int, count: int) -> "Fields":
        """Some of the rows."""
        return Fields(
            first_row=self.first_row + start,
            keys=self.keys.sliced(start, count),
            values=self.values.sliced(start, count),
            tails=None if self.tails is None else self.tails.sliced(start, count),
            timestamps=self.timestamps[start : start + count],
        )


def read_fields(rows: Any, now_ms: int) -> Fields:
    """What is in ``rows``; a missing column is a null in every row."""
    unknown = [name for name in rows.schema.names if name not in COLUMNS]
    if unknown or len(set(rows.schema.names)) < len(rows.schema.names):
        given = ", ".join(rows.schema.names)
        raise UsageError(f"Rows have the columns {given}; a record takes {', '.join(COLUMNS)}, once each.")
    return Fields(
        first_row=0,
        keys=_content(_column(rows, "key", pa.binary())),
        values=_content(_column(rows, "value", pa.binary())),
        tails=_tails(rows.column("headers")) if "headers" in rows.schema.names else None,
        timestamps=_timestamps(_column(rows, "timestamp_ms", pa.int64()), now_ms),
    )


def _column(rows: Any, name: str, wanted: Any) -> Any:
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, wanted)
    column = rows.column(name)
    return column if column.type == wanted else column.cast(wanted)


def _content(column: Any) -> Content:
    lengths = pc.binary_length(column)
    if lengths.null_count:
        lengths = lengths.fill_null(-1)
    return Content(column=column, lengths=lengths.to_numpy(zero_copy_only=False).astype(np.int64))


def _timestamps(column: Any, now_ms: int) -> Integers:
    filled = column.fill_null(now_ms) if column.null_count else column
    timestamps: Integers = filled.to_numpy(zero_copy_only=False)
    return timestamps


def _tails(headers: Any) -> Content | None:
    """Each row's headers as they are written: their count, then name and value of each with their lengths."""
    counts = headers.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if not counts.any():
        return None
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    pairs = _pairs(headers.flatten())
    pair_offsets = np.frombuffer(pairs.buffers()[1], np.int32, len(pairs) + 1)
    runs = pa.Array.from_buffers(
        pa.binary(), len(counts), [None, pa.py_buffer(pair_offsets[offsets]), pairs.buffers()[2]]
    )
    return _content(pc.binary_join_element_wise(_varints(counts), runs, b""))


def _pairs(headers: Any) -> Any:
    """Every header of every row as it is written."""
    names, values = headers.flatten()
    if names.null_count:
        raise UsageError("A header has no key. Kafka allows no such header: leave it out or name it.")
    name, value = _content(names.cast(pa.binary())), _content(values.cast(pa.binary()))
    return pc.binary_join_element_wise(
        _varints(name.lengths), name.column, _varints(value.lengths), value.filled(), b""
    )


def _varints(values: Integers) -> Any:
    raw = zigzag(values)
    return varint_column(raw, varint_sizes(raw))
