"""The column of headers: for each record a list of names and values, null where there are none."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.records.errors import CorruptBatchError
from penstock.records.varint import read_varint
from penstock.spark.columns.cursors import Cursors, Slices
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.gathering import gather, gather_text
from penstock.spark.columns.schema import HEADERS, arrow_type
from penstock.spark.columns.varints import Integers

_HEADER_BYTES_MIN = 2
"""An empty name and a null value."""

_ROWS_MIN = 8
"""Fewer records are read sooner one by one than as columns."""

_NO_NAME = "A header has no name, or a length below -1."


def read_headers(cursors: Cursors, whole: Any) -> Any:
    """The headers of all records, whose cursors stand before their count; afterwards they are finished."""
    counts = _read_counts(cursors)
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    names, values = _read_pairs(cursors, counts, offsets)
    header_type = arrow_type(HEADERS).value_type
    pairs = pa.StructArray.from_arrays(
        [gather_text(whole, names), gather(whole, values)], fields=list(header_type)
    )
    mask = pa.array(counts == 0)
    return pa.ListArray.from_arrays(pa.array(offsets), pairs, type=arrow_type(HEADERS), mask=mask)


def _read_counts(cursors: Cursors) -> Integers:
    counts = cursors.varints()
    room = (cursors.ends - cursors.positions) // _HEADER_BYTES_MIN
    bad = (counts < 0) | (counts > room)
    if bad.any():
        row = int(np.argmax(bad))
        raise MalformedRowError(row, f"A record claims {counts[row]} headers in {room[row]} bytes.")
    return counts


def _read_pairs(cursors: Cursors, counts: Integers, offsets: Any) -> tuple[Slices, Slices]:
    """Names and values of all headers: the first of every record, then the second of those that have one.

    When few records have more, as where one has thousands, the rest is read one after another.
    """
    names, values = _no_slices(int(offsets[-1])), _no_slices(int(offsets[-1]))
    rows = np.flatnonzero(counts)
    index = 0
    while len(rows) >= _ROWS_MIN:
        _read_pair_of_each(cursors, rows, names, values, at=offsets[rows] + index)
        index += 1
        rows = rows[counts[rows] > index]
    for row in rows.tolist():
        _read_rest_of_one(
            cursors, row, names, values, at=slice(int(offsets[row]) + index, int(offsets[row + 1]))
        )
    cursors.check_finished()
    return names, values


def _read_pair_of_each(
    cursors: Cursors, rows: npt.NDArray[np.intp], names: Slices, values: Slices, *, at: Any
) -> None:
    """One header of each of the ``rows``."""
    some = Cursors(cursors.octets, positions=cursors.positions[rows], ends=cursors.ends[rows])
    try:
        name = some.slices()
        if name.lengths.min() < 0:
            raise MalformedRowError(int(np.argmin(name.lengths)), _NO_NAME)
        value = some.slices()
    except MalformedRowError as error:
        raise MalformedRowError(int(rows[error.row]), error.message) from error
    cursors.positions[rows] = some.positions
    names.starts[at], names.lengths[at] = name.starts, name.lengths
    values.starts[at], values.lengths[at] = value.starts, value.lengths


def _read_rest_of_one(cursors: Cursors, row: int, names: Slices, values: Slices, *, at: slice) -> None:
    """So many headers of one record as there are places in ``at``."""
    start = int(cursors.positions[row])
    rest = cursors.octets[start : cursors.ends[row]].tobytes()
    pieces: list[int] = []
    position = 0
    try:
        for _ in range(2 * (at.stop - at.start)):
            length, position = read_varint(rest, position)
            pieces += (position, length)
            position += max(length, 0)
    except (IndexError, CorruptBatchError):
        raise MalformedRowError(row, "A header reaches beyond its record.") from None
    table = np.array(pieces, np.int64).reshape(-1, 4)
    if table[:, 1].min() < 0 or table[:, 3].min() < -1:
        raise MalformedRowError(row, _NO_NAME)
    names.starts[at], names.lengths[at] = table[:, 0] + start, table[:, 1]
    values.starts[at], values.lengths[at] = table[:, 2] + start, table[:, 3]
    cursors.positions[row] = start + position


def _no_slices(count: int) -> Slices:
    return Slices(starts=np.zeros(count, np.int64), lengths=np.zeros(count, np.int64))
