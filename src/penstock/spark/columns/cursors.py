"""One cursor into each record, all moved together: the records' fields, read as columns."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.varints import Integers, Octets, read_varints, read_varlongs


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Pieces of a buffer, in ascending order; a length of -1 is a null."""

    starts: Integers
    lengths: Integers


class Cursors:
    """Where reading has come to in each record, and where each ends.

    No field may reach beyond its record. Lengths are never negative where they are added, so it is enough
    to look before bytes are taken for somebody, and at the end.
    """

    __slots__ = ("ends", "octets", "positions")

    def __init__(self, octets: Octets, *, positions: Integers, ends: Integers) -> None:
        self.octets = octets
        self.positions = positions
        self.ends = ends

    def sliced(self, rows: slice) -> "Cursors":
        """Those of ``rows``."""
        return Cursors(self.octets, positions=self.positions[rows], ends=self.ends[rows])

    def varints(self) -> Integers:
        """A 32-bit integer of each."""
        values, self.positions = read_varints(self.octets, self.positions)
        return values

    def varlongs(self) -> Integers:
        """A 64-bit integer of each."""
        values, self.positions = read_varlongs(self.octets, self.positions)
        return values

    def slices(self) -> Slices:
        """A length and so many bytes of each."""
        lengths = self.varints()
        starts = self.positions
        if len(lengths) and lengths.min() < 0:
            self._check(lengths >= -1, "A field's length is less than -1.")
            self.positions = starts + np.maximum(lengths, 0)
        else:
            self.positions = starts + lengths
        self.check_within()
        return Slices(starts=starts, lengths=lengths)

    def check_within(self) -> None:
        """Refuse records whose fields reach beyond their end."""
        self._check(self.positions <= self.ends, "A field reaches beyond its record.")

    def check_finished(self) -> None:
        """Refuse records that have more bytes than fields."""
        self._check(self.positions == self.ends, "A record is not as long as it claims.")

    def _check(self, good: npt.NDArray[np.bool_], message: str) -> None:
        if not good.all():
            raise MalformedRowError(int(np.argmin(good)), message)
