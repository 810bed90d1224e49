"""From a timestamp to an offset (``.timeindex``).

Kafka's format: entries of 12 bytes, big-endian: the largest timestamp so far in the segment, and the last
offset, relative to the segment's base, of the first batch that has it. An entry is added only when the
timestamp grew, so everything before the entry's batch is older than its timestamp.
"""

from struct import Struct
from typing import NamedTuple

from penstock.storage.filesystem import FileSystem
from penstock.storage.sparse_index import DamagedIndexError, SparseIndex

SUFFIX = ".timeindex"
ENTRY = Struct(">qi")


class TimeEntry(NamedTuple):
    """A batch by the largest timestamp up to and including it, and its last offset."""

    timestamp: int
    last_offset: int


class TimeIndex(SparseIndex):
    """The time index of one segment, in absolute offsets."""

    __slots__ = ("_base_offset",)

    def __init__(self, filesystem: FileSystem, path: str, base_offset: int, *, is_new: bool) -> None:
        super().__init__(filesystem, path, ENTRY, is_new=is_new)
        self._base_offset = base_offset

    def add(self, timestamp: int, last_offset: int) -> None:
        """Note a timestamp, unless it is not larger than the newest entry's."""
        newest = self.last()
        if newest is None or timestamp > newest[0]:
            self.append(timestamp, last_offset - self._base_offset)

    def before_timestamp(self, timestamp: int) -> TimeEntry | None:
        """The last entry whose timestamp is smaller than ``timestamp``.

        One that does not ascend to the next could name a batch behind the one that is looked for.
        """
        number = self.floor_number(timestamp - 1)
        entry, following = self.entry(number), self.entry(number + 1)
        if entry and following and not (entry[0] < following[0] and entry[1] < following[1]):
            raise DamagedIndexError(f"Index {self.path} does not ascend at entry {number}")
        return self._absolute(entry)

    def last_entry(self) -> TimeEntry | None:
        """The newest entry; in a closed segment, the segment's largest timestamp."""
        return self._absolute(self.last())

    def truncate(self, offset: int) -> None:
        """Forget batches that end at or behind ``offset``."""
        self.drop_values_from(offset - self._base_offset)

    def _absolute(self, entry: tuple[int, int] | None) -> TimeEntry | None:
        return None if entry is None else TimeEntry(entry[0], entry[1] + self._base_offset)
