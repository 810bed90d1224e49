"""Places inside a large batch that look like beginnings of records.

A record's length is followed by its attributes, a byte that is always 0, and leads to another record of which
the same is true. Whatever passes for a few records in a row is offered; whoever uses it makes sure.
"""

import numpy as np
import numpy.typing as npt

from penstock.spark.columns.bodies import Body
from penstock.spark.columns.strides import Strides
from penstock.spark.columns.varints import Integers, Octets

_HOPS = 3
"""So many records in a row have to look like records."""

_HOP_BYTES = 3
"""Looked at for one record: a length of two bytes and the attributes."""

_WINDOW_RECORDS = 2
"""Looked through in each part: room for so many records of mean size, for one is to begin there."""

_WINDOW_MARGIN_BYTES = 16


def guess_records(octets: Octets, strides: Strides, body: Body, parts: int) -> Integers:
    """About one place for each of so many equal ``parts`` but the first, ascending."""
    part_bytes = (body.end - body.start) // parts
    width = min(part_bytes, part_bytes * parts // body.record_count * _WINDOW_RECORDS + _WINDOW_MARGIN_BYTES)
    windows, places = _lengths_before_zeros(
        octets, body.start, part_bytes=part_bytes, width=width, parts=parts
    )
    good = np.flatnonzero(_look_like_records(octets, strides, places, body.end))
    _, first_of_window = np.unique(windows[good], return_index=True)
    return np.unique(places[good[first_of_window]])


def _lengths_before_zeros(
    octets: Octets, start: int, *, part_bytes: int, width: int, parts: int
) -> tuple[Integers, Integers]:
    """Where a length of one or two bytes would stand if a zero followed it, and in which part that is."""
    matrix = octets[start + part_bytes : start + part_bytes * parts].reshape(parts - 1, part_bytes)
    windows, columns = np.divmod(np.flatnonzero(matrix[:, :width] == 0), width)
    zeros = start + part_bytes + windows * part_bytes + columns
    return windows, zeros - 1 - (octets[zeros - 2] >= 0x80)


def _look_like_records(octets: Octets, strides: Strides, places: Integers, end: int) -> npt.NDArray[np.bool_]:
    good = np.ones(len(places), np.bool_)
    for _ in range(_HOPS):
        # Beyond the end there is nothing to look at; whoever gets there has failed already.
        within = np.minimum(places, end - _HOP_BYTES)
        good &= octets[within + 1 + (octets[within] >= 0x80)] == 0
        places = within + strides.at(within)
        good &= places <= end
    return good
