"""Stored batches to Arrow: the columns of their records, beside each what is known of its batch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.records.batch import BatchHeader, Buffer
from penstock.records.compression import Codec
from penstock.spark.columns.batches import FoundBatch, Window
from penstock.spark.columns.bodies import Body, uncompressed
from penstock.spark.columns.building import build_columns
from penstock.spark.columns.errors import MalformedRowError, Origin
from penstock.spark.columns.rows import Rows, read_rows
from penstock.spark.segments.schema import BATCH_COLUMNS, segments_arrow_schema, segments_arrow_type

ROWS_MAX = 1_000_000
"""Read together: a column with the longest topic name stays far below Arrow's 2 GiB."""

EVERYTHING = Window(first_offset=0, end_offset=2**63 - 1)

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where batches come from."""

    origin: Origin
    segment: str | None = None
    """The file; None where a broker sent them."""


def batch_rows(
    records: Buffer,
    batches: Sequence[FoundBatch],
    *,
    place: Place,
    wanted: Sequence[str],
    window: Window = EVERYTHING,
) -> Iterator[Any]:
    """``pyarrow.RecordBatch`` of the records in ``window``; ``batches`` stand in ``records``.

    Checksums are compared by whoever has found the batches.
    """
    left = [batch for batch in batches if batch.header.record_count]
    while left:
        few = left[: _count_of_few(left)]
        data, bodies = uncompressed(records, few, place.origin)
        yield _read(data, bodies, few, place=place, wanted=wanted, window=window)
        left = left[len(bodies) :]


def _count_of_few(batches: Sequence[FoundBatch]) -> int:
    """How many to read together: at least one."""
    ends = np.cumsum([batch.header.record_count for batch in batches])
    return max(1, int(np.searchsorted(ends, ROWS_MAX, side="right")))


def _read(
    data: Buffer,
    bodies: list[Body],
    batches: list[FoundBatch],
    *,
    place: Place,
    wanted: Sequence[str],
    window: Window,
) -> Any:
    headers = [batch.header for batch in batches[: len(bodies)]]
    own = [name for name in wanted if name not in BATCH_COLUMNS]
    try:
        read = read_rows(data, bodies, headers)
        sizes = _record_sizes(read, bodies)
        rows = read.within(window)
        columns = dict(zip(own, build_columns(rows, origin=place.origin, wanted=own), strict=True))
    except MalformedRowError as error:
        batch = _batch_numbers(bodies)[error.row]
        raise place.origin.unreadable(headers[batch].base_offset, error.message) from error
    chosen = slice(rows.first_row, rows.first_row + len(rows))
    columns |= _batch_columns(headers, bodies, chosen, sizes=sizes, segment=place.segment, wanted=wanted)
    return pa.RecordBatch.from_arrays(
        [columns[name] for name in wanted], schema=segments_arrow_schema(wanted)
    )


def _record_sizes(rows: Rows, bodies: list[Body]) -> Integers:
    """Records stand side by side: each reaches from where the last one ended to where it ends itself."""
    ends = rows.cursors.ends
    sizes = np.diff(ends, prepend=0)
    firsts = np.cumsum([0, *(body.record_count for body in bodies[:-1])])
    sizes[firsts] = ends[firsts] - np.array([body.start for body in bodies])
    return sizes


def _batch_numbers(bodies: list[Body]) -> Integers:
    return np.arange(len(bodies)).repeat([body.record_count for body in bodies])


def _batch_columns(
    headers: Sequence[BatchHeader],
    bodies: list[Body],
    chosen: slice,
    *,
    sizes: Integers,
    segment: str | None,
    wanted: Sequence[str],
) -> dict[str, Any]:
    numbers = _batch_numbers(bodies)[chosen]
    firsts = np.cumsum([0, *(body.record_count for body in bodies[:-1])])

    def spread(name: str, values: Sequence[object]) -> Any:
        return pa.array(values, segments_arrow_type(name)).take(pa.array(numbers))

    def of_headers(name: str, fact: Callable[[BatchHeader], object]) -> Any:
        return spread(name, [fact(header) for header in headers])

    places = np.arange(chosen.start, chosen.stop) - firsts[numbers]
    makers: dict[str, Callable[[], Any]] = {
        "recordBytes": lambda: pa.array(sizes[chosen].astype(np.int32)),
        "batchIndex": lambda: pa.array(places.astype(np.int32)),
        "batchPayloadBytes": lambda: spread("batchPayloadBytes", [body.end - body.start for body in bodies]),
        "segment": lambda: spread("segment", [segment] * len(headers)),
    }
    for name, fact in _HEADER_FACTS.items():
        makers[name] = lambda name=name, fact=fact: of_headers(name, fact)  # type: ignore[misc]
    return {name: makers[name]() for name in wanted if name in makers}


_HEADER_FACTS: dict[str, Callable[[BatchHeader], object]] = {
    "batchOffset": lambda header: header.base_offset,
    "batchRecords": lambda header: header.record_count,
    "batchBytes": lambda header: header.size_bytes,
    "compression": lambda header: Codec(header.codec).name.lower(),
    "isTransactional": lambda header: header.is_transactional,
    "isControl": lambda header: header.is_control,
    "producerId": lambda header: header.producer_id,
    "leaderEpoch": lambda header: header.leader_epoch,
}
