"""The column of headers: for each record a list of names and values, null where there are none."""

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.spark.columns.cursors import Cursors, Slices
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.gathering import gather, gather_text
from penstock.spark.columns.schema import HEADERS, arrow_type
from penstock.spark.columns.varints import Integers

_HEADER_BYTES_MIN = 2
"""An empty name and a null value."""


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
    """Names and values of all headers: the first of every record, then the second of those that have one."""
    total = int(offsets[-1])
    names, values = _no_slices(total), _no_slices(total)
    rows = np.flatnonzero(counts)
    positions = cursors.positions
    index = 0
    while len(rows):
        some = Cursors(cursors.octets, positions=positions[rows], ends=cursors.ends[rows])
        try:
            _read_pair(some, names, values, offsets[rows] + index)
        except MalformedRowError as error:
            raise MalformedRowError(int(rows[error.row]), error.message) from error
        positions[rows] = some.positions
        index += 1
        rows = rows[counts[rows] > index]
    cursors.check_finished()
    return names, values


def _read_pair(cursors: Cursors, names: Slices, values: Slices, at: Any) -> None:
    name = cursors.slices()
    if name.lengths.min() < 0:
        raise MalformedRowError(int(np.argmin(name.lengths)), "A header has no name.")
    value = cursors.slices()
    names.starts[at], names.lengths[at] = name.starts, name.lengths
    values.starts[at], values.lengths[at] = value.starts, value.lengths


def _no_slices(count: int) -> Slices:
    return Slices(starts=np.zeros(count, np.int64), lengths=np.zeros(count, np.int64))
