"""Zigzag variable-length integers, a whole column at a time.

Nearly all of them take one or two bytes. So one pass over the column reads the first byte of each. Where many
go on, a second pass takes all rows along, which is quicker than choosing; only the rows that go on still take
part in the next ones.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.spark.columns.errors import MalformedRowError

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Raw = npt.NDArray[np.uint64]
"""Zigzagged."""

VARINT_BYTES_MAX = 5
VARLONG_BYTES_MAX = 10

_SPARSE_SHARE = 8
"""Choosing rows pays where no more than one in so many goes on."""


def read_varints(octets: Octets, positions: Integers) -> tuple[Integers, Integers]:
    """The 32-bit values at ``positions``, and the positions after them."""
    return _read(octets, positions, VARINT_BYTES_MAX)


def read_varlongs(octets: Octets, positions: Integers) -> tuple[Integers, Integers]:
    """The 64-bit values at ``positions``, and the positions after them."""
    return _read(octets, positions, VARLONG_BYTES_MAX)


def zigzag(values: Integers) -> Raw:
    """Signed as unsigned, small magnitudes first: how they are written."""
    return ((values << 1) ^ (values >> 63)).view(np.uint64)


def varint_sizes(raw: Raw) -> Integers:
    """How many bytes each takes."""
    sizes = np.ones(len(raw), np.int64)
    limit = 0x80
    while limit < 2**64 and (larger := raw >= limit).any():
        sizes += larger
        limit <<= 7
    return sizes


def write_varints(out: Octets, positions: Integers, raw: Raw) -> None:
    """Write each of ``raw`` at its position."""
    while len(raw):
        more = raw >= 0x80
        out[positions] = (raw & 0x7F).astype(np.uint8) | (more.view(np.uint8) << 7)
        raw, positions = (raw >> np.uint64(7))[more], (positions + 1)[more]


def varint_column(raw: Raw, sizes: Integers) -> Any:
    """A binary Arrow array that holds the bytes of each."""
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    write_varints(out, offsets[:-1], raw)
    return binary_array(offsets, out)


def binary_array(offsets: Integers, content: Octets) -> Any:
    """A binary Arrow array without nulls over ``content``."""
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _read(octets: Octets, positions: Integers, bytes_max: int) -> tuple[Integers, Integers]:
    first = _octets_at(octets, positions, None)
    after = positions + 1
    raw = (first & 0x7F).astype(np.uint64)
    goes_on = first >= 0x80
    index = 1
    if _is_dense(goes_on) and after.max() < len(octets):
        goes_on = _read_second(octets, raw, after, goes_on)
        index = 2
    rows = np.flatnonzero(goes_on)
    if len(rows):
        _read_rest(octets, raw, after, rows, indexes=range(index, bytes_max))
    return (raw >> 1).view(np.int64) ^ -(raw & 1).view(np.int64), after


def _is_dense(goes_on: npt.NDArray[np.bool_]) -> bool:
    return _SPARSE_SHARE * int(np.count_nonzero(goes_on)) > len(goes_on)


def _read_second(
    octets: Octets, raw: Raw, after: Integers, goes_on: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """The second byte of all rows; it counts as 0 where there is none. Which rows go on behind it."""
    second = octets.take(after)
    second *= goes_on
    raw |= (second & 0x7F).astype(np.uint64) << 7
    after += goes_on
    return second >= 0x80


def _read_rest(octets: Octets, raw: Raw, after: Integers, rows: Integers, *, indexes: range) -> None:
    for index in indexes:
        found = _octets_at(octets, after[rows], rows)
        raw[rows] |= (found & 0x7F).astype(np.uint64) << (7 * index)
        after[rows] += 1
        if index == indexes[-1]:
            _check_last(found, rows, indexes.stop)
        rows = rows[found >= 0x80]
        if not len(rows):
            return


def _octets_at(octets: Octets, positions: Integers, rows: Integers | None) -> Octets:
    try:
        return octets.take(positions)
    except IndexError:
        row = int(np.argmax(positions))
        raise MalformedRowError(row if rows is None else int(rows[row]), "A record ends too early.") from None


def _check_last(found: Octets, rows: Integers, bytes_max: int) -> None:
    """Of 5 times 7 bits only 32 may be used, of 10 times 7 only 64."""
    limit = 0x10 if bytes_max == VARINT_BYTES_MAX else 0x02
    bad = found >= limit
    if bad.any():
        raise MalformedRowError(
            int(rows[np.argmax(bad)]), f"A variable-length integer does not fit into {bytes_max} bytes."
        )
