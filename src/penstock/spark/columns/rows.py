"""The records of a fetch as rows: their offsets and times are known, and cursors stand before their keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.records.batch import BatchHeader, Buffer
from penstock.records.record import RECORD_BYTES_MIN
from penstock.spark.columns.batches import Window
from penstock.spark.columns.bodies import Body
from penstock.spark.columns.chains import find_records
from penstock.spark.columns.cursors import Cursors
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.varints import Integers, read_varints


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Records that follow each other, perhaps of several batches."""

    first_row: int
    """The place of the first among all records that were read, which is how errors name them."""
    cursors: Cursors
    whole: Any
    """The Arrow buffer that the cursors point into."""
    offsets: Integers
    timestamps_ms: Integers
    timestamp_types: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets)

    def within(self, window: Window) -> "Rows":
        """Those whose offsets are in ``window``."""
        first, end = np.searchsorted(self.offsets, (window.first_offset, window.end_offset))
        if first == 0 and end == len(self):
            return self
        chosen = slice(int(first), int(end))
        return Rows(
            first_row=self.first_row + int(first),
            cursors=self.cursors.sliced(chosen),
            whole=self.whole,
            offsets=self.offsets[chosen],
            timestamps_ms=self.timestamps_ms[chosen],
            timestamp_types=self.timestamp_types[chosen],
        )


def read_rows(data: Buffer, bodies: Sequence[Body], headers: Sequence[BatchHeader]) -> Rows:
    """The rows of all ``bodies``, which are in ``data``; each has the header of the same place."""
    octets = np.frombuffer(data, np.uint8)
    lengths, starts = read_varints(octets, find_records(data, bodies))
    _check_lengths(lengths)
    # Behind the length there is a byte of attributes that nobody uses.
    cursors = Cursors(octets, positions=starts + 1, ends=starts + lengths)
    timestamp_deltas = cursors.varlongs()
    offset_deltas = cursors.varints()
    counts = np.array([body.record_count for body in bodies])
    _check_deltas(offset_deltas, counts, headers)
    base_offsets, base_timestamps, types = _by_row(headers, counts)
    return Rows(
        first_row=0,
        cursors=cursors,
        whole=pa.py_buffer(data),
        offsets=base_offsets + offset_deltas,
        timestamps_ms=np.where(types == 1, base_timestamps, base_timestamps + timestamp_deltas),
        timestamp_types=types,
    )


def _by_row(
    headers: Sequence[BatchHeader], counts: Integers
) -> tuple[Integers, Integers, npt.NDArray[np.int32]]:
    """Base offset, base timestamp and type of timestamp for each row; the broker's clock is one for all."""
    offsets = np.array([header.base_offset for header in headers], np.int64)
    types = np.array([header.is_log_append_time for header in headers], np.int32)
    timestamps = np.array(
        [header.max_timestamp if header.is_log_append_time else header.base_timestamp for header in headers],
        np.int64,
    )
    return offsets.repeat(counts), timestamps.repeat(counts), types.repeat(counts)


def _check_lengths(lengths: Integers) -> None:
    if lengths.min() < RECORD_BYTES_MIN - 1:
        row = int(np.argmin(lengths))
        raise MalformedRowError(row, f"A record claims {lengths[row]} bytes.")


def _check_deltas(deltas: Integers, counts: Integers, headers: Sequence[BatchHeader]) -> None:
    """Offsets ascend within a batch, up to the last that its header names."""
    previous = np.empty_like(deltas)
    previous[1:] = deltas[:-1]
    ends = np.cumsum(counts)
    previous[0] = -1
    previous[ends[:-1]] = -1
    bad = deltas <= previous
    bad[ends - 1] |= deltas[ends - 1] > np.array([header.last_offset_delta for header in headers])
    if bad.any():
        row = int(np.argmax(bad))
        raise MalformedRowError(row, f"A record has offset delta {deltas[row]} after {previous[row]}.")
