"""Rows as Spark hands them over, turned into the columns that records are encoded from.

Spark's strings become bytes, its timestamps milliseconds. Where the rows go, their topics and partitions, is
kept beside them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.model.errors import UsageError

_MICROS_PER_MILLI = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some rows: what records are made of, and what is said about their places."""

    records: Any
    """A ``RecordBatch`` of the columns key, value, headers and timestamp_ms, as far as there are any."""
    topics: Any
    """The names, null where a row has none; None if there is no such column."""
    partitions: Any
    """The numbers, null where a row leaves it to its key; None if there is no such column."""

    def __len__(self) -> int:
        count: int = self.records.num_rows
        return count

    @property
    def keys(self) -> Any:
        """Null where a row has none."""
        names = self.records.schema.names
        return self.records.column("key") if "key" in names else pa.nulls(len(self), pa.binary())

    def taken(self, order: Any) -> "Rows":
        """The rows at these places, in this order."""
        return Rows(
            records=self.records.take(order),
            topics=None if self.topics is None else self.topics.take(order),
            partitions=None if self.partitions is None else self.partitions.take(order),
        )


def read_rows(batch: Any) -> Rows:
    """The rows of an Arrow batch whose schema was found good."""
    names = batch.schema.names
    columns = {name: _bytes(batch.column(name)) for name in ("key", "value") if name in names}
    if "headers" in names:
        columns["headers"] = batch.column("headers")
    if "timestamp" in names:
        columns["timestamp_ms"] = _milliseconds(batch.column("timestamp"))
    return Rows(
        records=pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns)),
        topics=batch.column("topic").cast(pa.string()) if "topic" in names else None,
        partitions=batch.column("partition").cast(pa.int32()) if "partition" in names else None,
    )


def _bytes(column: Any) -> Any:
    return column if column.type == pa.binary() else column.cast(pa.binary())


def _milliseconds(column: Any) -> Any:
    """Towards the past, as everything that rounds a time to its millisecond does."""
    micros = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    if pc.any(pc.less(micros, 0)).as_py():
        raise UsageError("A row has a timestamp before 1970, which Kafka has no number for: change it.")
    values = micros.fill_null(0).to_numpy(zero_copy_only=False) // _MICROS_PER_MILLI
    return pa.array(values.astype(np.int64), mask=micros.is_null().to_numpy(zero_copy_only=False))
