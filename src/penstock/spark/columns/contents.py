"""Columns of bytes that are to be written: what they hold, and how long each piece is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.model.errors import UsageError
from penstock.spark.columns.varints import Integers

_KINDS = (
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null),
)


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


def content_of(column: Any, name: str) -> Content:
    """The column called ``name``, which may be of any type of bytes or text."""
    if not any(is_kind(column.type) for is_kind in _KINDS):
        raise UsageError(f"The column {name} is {column.type}, it must be binary or string: cast it to one.")
    column = column if column.type == pa.binary() else column.cast(pa.binary())
    lengths = pc.binary_length(column)
    if lengths.null_count:
        lengths = lengths.fill_null(-1)
    return Content(column=column, lengths=lengths.to_numpy(zero_copy_only=False).astype(np.int64))
