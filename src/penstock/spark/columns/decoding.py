"""Record batches to Arrow columns: all batches of a fetch at once, field by field and not record by record.

Only what the wanted columns need is read, and nothing that the bytes claim is believed: a batch that lies is
an ``UnreadableRecordsError`` with its topic, partition and offset.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.model.errors import UsageError
from penstock.records.aborted import AbortedTransaction
from penstock.records.batch import Buffer
from penstock.spark.columns.batches import Found, FoundBatch, Window, find_batches
from penstock.spark.columns.bodies import Body, uncompressed
from penstock.spark.columns.building import build_columns
from penstock.spark.columns.errors import MalformedRowError, Origin
from penstock.spark.columns.rows import read_rows
from penstock.spark.columns.schema import arrow_schema

BUFFER_BYTES_MAX = 2**31 - 1
"""What Arrow's offsets can count, and more than a fetch can bring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The rows of a fetch."""

    batch: Any
    """A ``pyarrow.RecordBatch`` with exactly the wanted columns, in the order wanted."""
    next_offset: int
    """Where to fetch on: behind every offset that was looked at, whether it became a row or not, but never
    behind ``end_offset``. It is still ``first_offset`` if no whole batch has come."""


def decode(
    records: Buffer,
    *,
    topic: str,
    partition: int,
    wanted: Sequence[str],
    first_offset: int,
    end_offset: int,
    aborted: Sequence[AbortedTransaction] = (),
    check_crc: bool = True,
) -> Decoded:
    """The rows of ``records`` with ``first_offset`` <= offset < ``end_offset``.

    ``aborted`` is what the fetch's answer says when it was asked for committed records only. A batch that
    is cut off at the end is left for the next fetch. Timestamps beyond what Spark can hold become null.
    """
    if not wanted:
        raise UsageError("Rows need at least one column: name one in wanted.")
    schema = arrow_schema(wanted)
    if len(records) > BUFFER_BYTES_MAX:
        raise UsageError(
            f"{len(records)} bytes are too many to decode at once, the limit is {BUFFER_BYTES_MAX}."
        )
    origin = Origin(topic=topic, partition=partition)
    window = Window(first_offset=first_offset, end_offset=end_offset)
    found = find_batches(records, origin=origin, window=window, aborted=aborted, check_crc=check_crc)
    if not found.batches:
        return Decoded(batch=_empty(schema), next_offset=found.next_offset)
    data, bodies = uncompressed(records, found.batches, origin)
    columns = _read_columns(data, bodies, found.batches, origin=origin, window=window, wanted=wanted)
    return Decoded(
        batch=pa.RecordBatch.from_arrays(columns, schema=schema),
        next_offset=_next_offset(found, len(bodies), first_offset),
    )


def _empty(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _read_columns(
    data: Buffer,
    bodies: list[Body],
    batches: list[FoundBatch],
    *,
    origin: Origin,
    window: Window,
    wanted: Sequence[str],
) -> list[Any]:
    try:
        rows = read_rows(data, bodies, [batch.header for batch in batches[: len(bodies)]])
        return build_columns(rows.within(window), origin=origin, wanted=wanted)
    except MalformedRowError as error:
        ends = np.cumsum([body.record_count for body in bodies])
        batch = batches[int(np.searchsorted(ends, error.row, side="right"))]
        raise origin.unreadable(batch.header.base_offset, error.message) from error


def _next_offset(found: Found, used: int, first_offset: int) -> int:
    """Behind all that was found, or before the first batch that was left for another time."""
    if used == len(found.batches):
        return found.next_offset
    return max(first_offset, found.batches[used].header.base_offset)
