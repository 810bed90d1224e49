"""How far it is from one record to the next, for many records at once.

The length of a record below 8 KiB is one or two bytes, so a table by two bytes knows the answer. Longer
ones, and lengths that no record can have, are for others to look at: they lead nowhere.
"""

import numpy as np
import numpy.typing as npt

from penstock.records.record import RECORD_BYTES_MIN
from penstock.spark.columns.varints import Integers, Octets

NOWHERE = 2**31 - 1
"""The stride of a record that the table does not know."""


def _table() -> npt.NDArray[np.int64]:
    pairs = np.arange(2**16)
    first, second = pairs & 0xFF, pairs >> 8
    is_short = first < 0x80
    raw = np.where(is_short, first, (first & 0x7F) | second << 7)
    sizes = np.where(is_short, 1, 2)
    is_known = (is_short | (second < 0x80)) & (raw & 1 == 0) & (raw >> 1 >= RECORD_BYTES_MIN - 1)
    return np.where(is_known, sizes + (raw >> 1), NOWHERE)


_STRIDES = _table()


class Strides:
    """The strides of records in one buffer."""

    __slots__ = ("_pairs",)

    def __init__(self, octets: Octets) -> None:
        self._pairs = np.lib.stride_tricks.as_strided(
            octets[:2].view("<u2"), shape=(len(octets) - 1,), strides=(1,), writeable=False
        )

    def at(self, positions: Integers) -> Integers:
        """From the length of a record at each position to where the next one begins."""
        return _STRIDES.take(self._pairs[positions])
