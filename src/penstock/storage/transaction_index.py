"""The transactions that a segment's abort markers ended (``.txnindex``).

Kafka's format: entries of 34 bytes, big-endian: version 0, producer id, first offset, last offset (the
marker's), last stable offset. The file exists only where something was aborted. A consumer that reads
committed data gets the entries that overlap what it fetched, and drops those producers' records.
"""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from penstock.storage.filesystem import FileSystem
from penstock.storage.sparse_index import DamagedIndexError, IndexWrite

SUFFIX = ".txnindex"
ENTRY = Struct(">hqqqq")
VERSION = 0


class AbortedTransaction(NamedTuple):
    """Records of ``producer_id`` from ``first_offset`` up to the marker at ``last_offset`` do not count."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    """Where the log was stable once the marker was there; later entries cannot concern offsets below it."""

    def overlaps(self, start_offset: int, end_offset: int) -> bool:
        """Whether any of its records may lie in the range (end excluded)."""
        return self.last_offset >= start_offset and self.first_offset < end_offset


class TransactionIndex:
    """The aborted transactions of one segment, read from the file when first asked for."""

    __slots__ = ("_entries", "_filesystem", "_is_dirty", "is_damaged", "path")

    def __init__(self, filesystem: FileSystem, path: str, *, is_new: bool) -> None:
        self.path = path
        self._filesystem = filesystem
        self._entries: list[AbortedTransaction] | None = [] if is_new else None
        self._is_dirty = False
        #: Whether the file was nonsense, so that what is known is not all; ``replace`` heals it.
        self.is_damaged = False

    def entries(self) -> list[AbortedTransaction]:
        """All of them, in the order of their markers."""
        if self._entries is None:
            try:
                self._entries = self._read()
            except DamagedIndexError:
                self._entries = []
                self.is_damaged = True
        return self._entries

    def add(self, aborted: AbortedTransaction) -> None:
        """Note one whose marker was just appended."""
        self.entries().append(aborted)
        self._is_dirty = True

    def replace(self, entries: list[AbortedTransaction]) -> None:
        """Take what was read from the log instead of what the file said."""
        self._entries = entries
        self._is_dirty = True
        self.is_damaged = False

    def truncate(self, offset: int) -> None:
        """Forget those whose marker is at or behind ``offset``."""
        kept = [entry for entry in self.entries() if entry.last_offset < offset]
        self._is_dirty = self._is_dirty or len(kept) != len(self.entries())
        self._entries = kept

    def capture(self, *, is_final: bool) -> IndexWrite | None:
        """The whole content, for a final write; None when the file has it, or must be made anew."""
        if not self._is_dirty or self._entries is None or self.is_damaged or not is_final:
            return None
        data = b"".join(ENTRY.pack(VERSION, *entry) for entry in self._entries)
        return IndexWrite(self.path, 0, data, len(self._entries), is_final=True, cuts=True)

    def settle(self, write: IndexWrite) -> None:
        """The job succeeded; if nothing was added meanwhile, the file has everything."""
        self._is_dirty = self._entries is not None and len(self._entries) != write.entry_count

    def _read(self) -> list[AbortedTransaction]:
        if not self._filesystem.exists(self.path):
            return []
        data = self._filesystem.read_file(self.path)
        if len(data) % ENTRY.size:
            raise DamagedIndexError(f"Index {self.path} has {len(data)} bytes, no multiple of {ENTRY.size}")
        return list(_decode(ENTRY.iter_unpack(data), self.path))


def _decode(rows: Iterable[tuple[int, ...]], path: str) -> Iterator[AbortedTransaction]:
    newest = -1
    for version, producer_id, first_offset, last_offset, last_stable_offset in rows:
        is_possible = producer_id >= 0 and 0 <= first_offset <= last_offset and newest <= last_offset
        if version != VERSION or not is_possible:
            raise DamagedIndexError(f"Index {path} has an entry that cannot be")
        newest = last_offset
        yield AbortedTransaction(producer_id, first_offset, last_offset, last_stable_offset)
