"""A place in each of many records at once, and reading one value from all of them with numpy.

A read never stops at a record that ends too early or holds a bad number: the record is marked as bad, its
place stays within its own bytes, and what was read for it means nothing. Who reads leaves marked records out
in the end. So no read can go astray, and none needs a branch for each record.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.spark.registry.payloads import Bytes, Offsets, Payloads

VARINT_BYTES_MAX = 10
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]


@dataclass(slots=True, kw_only=True)
class Cursor:
    """``data[positions[i]]`` is the next byte of record ``i``, which ends before ``ends[i]``."""

    data: Bytes
    positions: Offsets
    ends: Offsets
    is_bad: Mask

    def __len__(self) -> int:
        return len(self.positions)

    def part(self, rows: Offsets) -> "Cursor":
        """A cursor on some of the records, which moves alone; give it back with ``join``."""
        return Cursor(
            data=self.data, positions=self.positions[rows], ends=self.ends[rows], is_bad=self.is_bad[rows]
        )

    def join(self, rows: Offsets, part: "Cursor") -> None:
        """Move on as a part has moved on."""
        self.positions[rows] = part.positions
        self.is_bad[rows] = part.is_bad

    def mark_bad(self, is_bad: Mask) -> None:
        """Records that cannot be read."""
        self.is_bad |= is_bad

    def longs(self) -> Offsets:
        """A zigzag varint from each record."""
        values = self.varints()
        return ((values >> np.uint64(1)) ^ (np.uint64(0) - (values & np.uint64(1)))).view(np.int64)

    def varints(self) -> Numbers:
        """A varint from each record, as it is written."""
        values = np.zeros(len(self), np.uint64)
        rows: Any = slice(None)
        positions = self.positions
        for index in range(VARINT_BYTES_MAX):
            byte = self._bytes_at(positions)
            values[rows] |= (byte & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * index)
            goes_on = byte >= 0x80
            self.positions[rows] = positions + 1
            if index == VARINT_BYTES_MAX - 1:
                self.is_bad[rows] |= byte > 1  # Beyond 64 bits.
            if not goes_on.any():
                break
            rows = np.flatnonzero(goes_on) if isinstance(rows, slice) else rows[goes_on]
            positions = self.positions[rows]
        self._stay_within()
        return values

    def fixed(self, size: int) -> Bytes:
        """So many bytes from each record, as rows of a table."""
        table = self._bytes_at(self.positions[:, None] + np.arange(size))
        self.positions += size
        self._stay_within()
        return table

    def spans(self, sizes: Offsets) -> tuple[Offsets, Offsets]:
        """Begin and end of so many bytes of each record, which are passed over."""
        is_wrong = (sizes < 0) | (sizes > self.ends - self.positions)
        self.mark_bad(is_wrong)
        begins = self.positions.copy()
        self.positions += np.where(is_wrong, 0, sizes)
        return begins, self.positions.copy()

    def _bytes_at(self, positions: Any) -> Bytes:
        if len(self.data) == 0:
            return np.zeros(positions.shape, np.uint8)
        # Beyond a record's end this reads somebody else's byte; the record is marked right after.
        found: Bytes = self.data[np.minimum(positions, len(self.data) - 1)]
        return found

    def _stay_within(self) -> None:
        is_beyond = self.positions > self.ends
        if is_beyond.any():
            self.is_bad |= is_beyond
            np.minimum(self.positions, self.ends, out=self.positions)


def cursor_at(payloads: Payloads) -> Cursor:
    """At the beginning of every record."""
    return Cursor(
        data=payloads.data,
        positions=payloads.starts.copy(),
        ends=payloads.ends,
        is_bad=np.zeros(len(payloads), bool),
    )
