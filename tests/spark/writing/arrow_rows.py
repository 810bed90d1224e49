"""Rows as Spark hands them over."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

_TYPES = {
    "key": pa.string(),
    "value": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "headers": pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])),
}


def arrow_rows(**columns: list[Any]) -> Any:
    """A batch of these columns; without a value there is an empty one for each row."""
    columns.setdefault("value", [""] * len(next(iter(columns.values()))))
    arrays = [
        pa.array(values, pa.binary() if values and isinstance(values[0], bytes) else _TYPES[name])
        for name, values in columns.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def at_ms(milliseconds: int) -> datetime:
    """That time as Spark has it."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
