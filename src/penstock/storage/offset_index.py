"""From an offset to a position in the segment's file (``.index``).

Kafka's format: entries of 8 bytes, big-endian: the last offset of a batch, relative to the segment's base,
and the position where that batch begins. One entry every ``index.interval.bytes`` or so.
"""

from struct import Struct
from typing import NamedTuple

from penstock.storage.filesystem import FileSystem
from penstock.storage.sparse_index import VALUE, SparseIndex

SUFFIX = ".index"
ENTRY = Struct(">ii")


class OffsetEntry(NamedTuple):
    """A batch by its last offset and its position."""

    last_offset: int
    position: int


class OffsetIndex(SparseIndex):
    """The offset index of one segment, in absolute offsets."""

    __slots__ = ("_base_offset",)

    def __init__(self, filesystem: FileSystem, path: str, base_offset: int, *, is_new: bool) -> None:
        super().__init__(filesystem, path, ENTRY, is_new=is_new)
        self._base_offset = base_offset

    def add(self, last_offset: int, position: int) -> None:
        """Note the newest batch."""
        self.append(last_offset - self._base_offset, position)

    def before_offset(self, offset: int) -> OffsetEntry | None:
        """The last noted batch that ends at or before ``offset``."""
        return self._absolute(self.floor(offset - self._base_offset))

    def before_position(self, position: int) -> OffsetEntry | None:
        """The last noted batch that begins at or before ``position``."""
        return self._absolute(self.floor(position, column=VALUE))

    def last_entry(self) -> OffsetEntry | None:
        """The newest noted batch."""
        return self._absolute(self.last())

    def truncate(self, position: int) -> None:
        """Forget batches that begin at or behind ``position``."""
        self.drop_values_from(position)

    def _absolute(self, entry: tuple[int, int] | None) -> OffsetEntry | None:
        return None if entry is None else OffsetEntry(entry[0] + self._base_offset, entry[1])
