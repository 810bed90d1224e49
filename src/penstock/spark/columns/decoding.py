"""Record batches to Arrow columns: all batches of a fetch at once, field by field and not record by record.

Only what the wanted columns need is read, and nothing that the bytes claim is believed: a batch that lies is
an ``UnreadableRecordsError`` with its topic, partition and offset.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.records.batch import Buffer
from penstock.spark.columns.batches import AbortedTransaction, FoundBatch, Window, find_batches
from penstock.spark.columns.bodies import uncompressed
from penstock.spark.columns.building import build_columns
from penstock.spark.columns.errors import MalformedRowError, Origin
from penstock.spark.columns.rows import read_rows
from penstock.spark.columns.schema import arrow_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The rows of a fetch."""

    batch: Any
    """A ``pyarrow.RecordBatch`` with exactly the wanted columns, in the order wanted."""
    next_offset: int
    """Where to fetch on: behind every offset that was looked at, whether it became a row or not."""


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
    schema = arrow_schema(wanted)
    origin = Origin(topic=topic, partition=partition)
    window = Window(first_offset=first_offset, end_offset=end_offset)
    found = find_batches(records, origin=origin, window=window, aborted=aborted, check_crc=check_crc)
    columns: Sequence[Any] = [pa.array([], field.type) for field in schema]
    if found.batches:
        columns = _decode_batches(records, found.batches, origin=origin, window=window, wanted=wanted)
    return Decoded(
        batch=pa.RecordBatch.from_arrays(columns, schema=schema),
        next_offset=found.next_offset,
    )


def _decode_batches(
    records: Buffer, batches: list[FoundBatch], *, origin: Origin, window: Window, wanted: Sequence[str]
) -> list[Any]:
    data, bodies = uncompressed(records, batches, origin)
    try:
        rows = read_rows(data, bodies, [batch.header for batch in batches])
        return build_columns(rows.within(window), origin=origin, wanted=wanted)
    except MalformedRowError as error:
        ends = np.cumsum([body.count for body in bodies])
        batch = batches[int(np.searchsorted(ends, error.row, side="right"))]
        raise origin.unreadable(batch.header.base_offset, error.message) from error
