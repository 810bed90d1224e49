"""From a range of offsets to Arrow batches of a size that Spark likes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from penstock.spark.columns.decoding import decode
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.spark.reading.fetching import Fetched, Fetching

ROWS_MAX = 50_000
BYTES_MAX = 8 * 1024 * 1024
"""Of one Arrow batch: larger ones gain nothing and cost memory."""

ROWS_GATHERED = 10_000
"""Smaller Arrow batches cost time, so they wait for others."""


def read_range(options: SourceOptions, wanted: OffsetRange, columns: Sequence[str]) -> Iterator[Any]:
    """All rows of a range as ``pyarrow.RecordBatch``, with these columns in this order."""
    with borrowed_cluster(options.client) as cluster:
        for fetched in Fetching(cluster, options, wanted).answers():
            for batch in _decoded(fetched, options, wanted, columns=columns):
                yield from slices(batch)


def slices(batch: Any) -> Iterator[Any]:
    """``batch`` in pieces of about the same size; nothing if it is empty."""
    rows = batch.num_rows
    if not rows:
        return
    pieces = max(-(-rows // ROWS_MAX), -(-batch.nbytes // BYTES_MAX))
    step = -(-rows // pieces)
    for start in range(0, rows, step):
        yield batch.slice(start, step)


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer batches: small ones are put together, up to a good size."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS_GATHERED or batch.nbytes >= BYTES_MAX // 2:
            yield from _joined(waiting)
            waiting = []
    yield from _joined(waiting)


def _joined(batches: list[Any]) -> Iterator[Any]:
    if len(batches) > 1:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
    else:
        yield from batches


def _decoded(
    fetched: Fetched, options: SourceOptions, wanted: OffsetRange, *, columns: Sequence[str]
) -> Iterator[Any]:
    """The rows of one answer; in several batches if they are too many for one."""
    position, end = fetched.first_offset, min(fetched.next_offset, wanted.end)
    while position < end:
        decoded = decode(
            fetched.records,
            topic=wanted.partition.topic,
            partition=wanted.partition.partition,
            wanted=columns,
            first_offset=position,
            end_offset=end,
            aborted=fetched.aborted,
            check_crc=options.checks_crcs,
        )
        yield decoded.batch
        position = decoded.next_offset
