"""What rows hold for the records they become: contents as binary columns, lengths and times as numbers."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.model.errors import UsageError
from penstock.spark.columns.contents import Content, content_of
from penstock.spark.columns.tails import tails_of
from penstock.spark.columns.varints import Integers

COLUMNS = ("key", "value", "headers", "timestamp_ms")


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
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    nothing = pa.nulls(rows.num_rows)
    return Fields(
        first_row=0,
        keys=content_of(columns.get("key", nothing), "key"),
        values=content_of(columns.get("value", nothing), "value"),
        tails=tails_of(columns.get("headers", nothing)),
        timestamps=_timestamps(columns.get("timestamp_ms", nothing), now_ms),
    )


def _timestamps(column: Any, now_ms: int) -> Integers:
    if not pa.types.is_integer(column.type) and not pa.types.is_null(column.type):
        raise UsageError(f"The column timestamp_ms is {column.type}, it must be bigint: milliseconds.")
    column = column.cast(pa.int64())
    filled = column.fill_null(now_ms) if column.null_count else column
    timestamps: Integers = filled.to_numpy(zero_copy_only=False)
    return timestamps
