"""One segment of a log: a ``.log`` file of batches back to back, and the indexes that lead into it.

A segment knows two ends. ``size`` and ``next_offset`` count everything appended; ``readable_size`` and
``readable_offset`` only what a finished write put into the file, and only that is ever read back. The
indexes may point at both. Finding things is in ``penstock.storage.segment_lookup``.
"""

from collections.abc import Iterator
from contextlib import suppress

from penstock.model.errors import CorruptLogError
from penstock.records.batch import BatchHeader
from penstock.storage import offset_index, time_index, transaction_index
from penstock.storage.batch_scan import NO_GAPS, Continuity, Located, walk
from penstock.storage.filesystem import File, FileSystem, join_path
from penstock.storage.offset_index import OffsetIndex
from penstock.storage.position_ranges import PositionRanges
from penstock.storage.sparse_index import DamagedIndexError, IndexWrite
from penstock.storage.time_index import TimeIndex
from penstock.storage.transaction_index import TransactionIndex

LOG_SUFFIX = ".log"
INDEX_SUFFIXES = (offset_index.SUFFIX, time_index.SUFFIX, transaction_index.SUFFIX)
RELATIVE_OFFSET_MAX = 2**31 - 1
NO_TIMESTAMP = -1


def file_name(offset: int, suffix: str) -> str:
    """Kafka's name for a file that belongs to an offset."""
    return f"{offset:020d}{suffix}"


class Segment:
    """A run of batches from ``base_offset`` on."""

    __slots__ = (
        "_file",
        "_indexed_timestamp",
        "base_offset",
        "bytes_since_index_entry",
        "checked",
        "damaged",
        "directory",
        "filesystem",
        "first_timestamp",
        "gaps_below",
        "index_interval_bytes",
        "is_created",
        "largest_timestamp",
        "next_offset",
        "offset_index",
        "offset_of_largest_timestamp",
        "readable_largest",
        "readable_offset",
        "readable_size",
        "size",
        "time_index",
        "transaction_index",
        "untimed_since",
        "untimed_until",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        base_offset: int,
        *,
        index_interval_bytes: int,
        is_new: bool,
        gaps_below: int = NO_GAPS,
    ) -> None:
        self.filesystem = filesystem
        self.directory = directory
        self.base_offset = base_offset
        self.index_interval_bytes = index_interval_bytes
        #: Compaction may have taken out offsets below this.
        self.gaps_below = gaps_below
        self._file: File | None = None
        #: Whether its file is there and durably named; a roll happens in memory first.
        self.is_created = not is_new
        self.size = self.readable_size = 0
        self.next_offset = self.readable_offset = base_offset
        self.bytes_since_index_entry = 0
        self._indexed_timestamp = NO_TIMESTAMP
        #: The largest timestamp of the first batch, which rolling by age counts from; None in an empty one.
        self.first_timestamp: int | None = None
        #: None while nobody asked for it, in segments that were closed before this process began.
        self.largest_timestamp: int | None = NO_TIMESTAMP if is_new else None
        #: The last offset of the first batch that has the largest timestamp.
        self.offset_of_largest_timestamp = base_offset
        #: When this process was given the first and the last batch without a timestamp; None before any.
        self.untimed_since: int | None = None
        self.untimed_until: int | None = None
        #: The largest timestamp and its offset again, of what is readable.
        self.readable_largest: tuple[int | None, int] = (self.largest_timestamp, base_offset)
        self.offset_index = OffsetIndex(
            filesystem, self.path(offset_index.SUFFIX), base_offset, is_new=is_new
        )
        self.time_index = TimeIndex(filesystem, self.path(time_index.SUFFIX), base_offset, is_new=is_new)
        self.transaction_index = TransactionIndex(
            filesystem, self.path(transaction_index.SUFFIX), is_new=is_new
        )
        #: Positions whose bytes were checked, or written, by this process.
        self.checked = PositionRanges()
        #: Positions that must never be served.
        self.damaged = PositionRanges()

    def __repr__(self) -> str:
        return f"Segment({self.path()}, size={self.size}, next_offset={self.next_offset})"

    def path(self, suffix: str = LOG_SUFFIX) -> str:
        """Where one of the segment's files is."""
        return join_path(self.directory, file_name(self.base_offset, suffix))

    @property
    def file(self) -> File:
        """The ``.log`` file, opened when first needed."""
        if self._file is None:
            self._file = self.filesystem.open(self.path())
        return self._file

    @property
    def is_open(self) -> bool:
        """Whether the ``.log`` file takes a descriptor now."""
        return self._file is not None

    def adopt(self, file: File) -> None:
        """Use a file that was just created."""
        self._file = file
        self.is_created = True

    def close(self) -> None:
        """Let go of the file; nobody may be reading it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def index_batch(self, timestamp: int, last_offset: int, position: int, size: int) -> bool:
        """Keep the indexes up with a batch; answers whether entries were added.

        As in Kafka, an entry is due once more than the interval went by since the last one, and it names
        the batch that comes then.
        """
        largest = self.largest_timestamp
        if largest is None or timestamp > largest:
            self.largest_timestamp = largest = timestamp
            self.offset_of_largest_timestamp = last_offset
        if self.bytes_since_index_entry <= self.index_interval_bytes:
            self.bytes_since_index_entry += size
            return False
        self.offset_index.append(last_offset - self.base_offset, position)
        if largest > self._indexed_timestamp:
            self._indexed_timestamp = largest
            self.time_index.append(largest, self.offset_of_largest_timestamp - self.base_offset)
        self.bytes_since_index_entry = size
        return True

    def take(self, header: BatchHeader, position: int, size: int) -> None:
        """Grow by a batch that already has its offset."""
        last_offset = header.last_offset
        self.index_batch(header.max_timestamp, last_offset, position, size)
        self.size = position + size
        self.next_offset = last_offset + 1
        if position == 0:
            self.first_timestamp = header.max_timestamp

    def took_untimed(self, now: int) -> None:
        """The newest batch has no timestamp: how old it is counts from when it came."""
        self.untimed_until = now
        if self.untimed_since is None:
            self.untimed_since = now

    def finish_time_index(self) -> None:
        """Note the largest timestamp of all, as the last time entry of a segment that is put aside."""
        if self.largest_timestamp is not None and self.largest_timestamp > self._indexed_timestamp:
            self._indexed_timestamp = self.largest_timestamp
            self.time_index.add(self.largest_timestamp, self.offset_of_largest_timestamp)

    def restart_indexing(self) -> None:
        """Forget the offset and time index, before the segment is filled from its first batch."""
        self.offset_index.clear()
        self.time_index.clear()
        self.largest_timestamp = self._indexed_timestamp = NO_TIMESTAMP
        self.readable_largest = (NO_TIMESTAMP, self.base_offset)
        self.bytes_since_index_entry = 0
        self.first_timestamp = None

    def resume_indexing(self, largest_timestamp: int, offset_of_largest: int) -> None:
        """Go on behind what the index files already have; the newest time entry is given."""
        self._indexed_timestamp = largest_timestamp
        self.largest_timestamp = largest_timestamp
        self.offset_of_largest_timestamp = offset_of_largest
        self.readable_largest = (largest_timestamp, offset_of_largest)

    def capture_indexes(self, *, is_final: bool) -> list[IndexWrite]:
        """What the index files lack; all of it, and durably, when the segment or the log is put aside."""
        indexes = (self.offset_index, self.time_index, self.transaction_index)
        captured = (index.capture(is_final=is_final) for index in indexes)
        return [write for write in captured if write is not None]

    def settle_indexes(self, writes: list[IndexWrite]) -> None:
        """What was captured has been written."""
        by_path = {write.path: write for write in writes}
        for index in (self.offset_index, self.time_index, self.transaction_index):
            if index.path in by_path:
                index.settle(by_path[index.path])

    def walk(
        self, position: int = 0, expected_offset: int | None = None, end: int | None = None
    ) -> Iterator[Located]:
        """Each readable batch from ``position``, where ``expected_offset`` begins; from the first if none."""
        return walk(
            self.file,
            position,
            self.readable_size if end is None else end,
            Continuity(self.base_offset if expected_offset is None else expected_offset, self.gaps_below),
        )

    def publish(self, size: int, next_offset: int, largest: tuple[int | None, int]) -> None:
        """Everything up to here is in the file now and may be read; it came from us, so it is checked."""
        self.checked.add(self.readable_size, size)
        self.readable_size = size
        self.readable_offset = next_offset
        self.readable_largest = largest

    def publish_all(self) -> None:
        """Everything taken in so far is in the file."""
        self.publish(self.size, self.next_offset, (self.largest_timestamp, self.offset_of_largest_timestamp))

    def rebuild_indexes(self) -> None:
        """Make the offset and time index anew from the readable batches.

        A bad batch ends it with ``CorruptLogError``; the indexes then lead to what is before that batch.
        """
        appended = (self.largest_timestamp, self.offset_of_largest_timestamp)
        self.offset_index.clear()
        self.time_index.clear()
        self.largest_timestamp = self._indexed_timestamp = NO_TIMESTAMP
        self.readable_largest = (None, self.base_offset)
        self.bytes_since_index_entry = 0
        try:
            for position, header in self.walk():
                self.index_batch(header.max_timestamp, header.last_offset, position, header.size_bytes)
            self.finish_time_index()
            self.readable_largest = (self.largest_timestamp, self.offset_of_largest_timestamp)
        finally:
            if self.size > self.readable_size:
                self.largest_timestamp, self.offset_of_largest_timestamp = appended

    def cut(self, position: int, next_offset: int) -> None:
        """Forget every batch from ``position``, where ``next_offset`` began; the files follow.

        The largest timestamp is not known afterwards, unless the cut is at the end of what is readable.
        """
        if position != self.readable_size:
            self.readable_largest = (None, self.base_offset)
        self.size = self.readable_size = position
        self.next_offset = self.readable_offset = next_offset
        self.checked.cut(position)
        self.damaged.cut(position)
        self.transaction_index.truncate(next_offset)
        if position == 0:
            self.restart_indexing()
            return
        self.largest_timestamp, self.offset_of_largest_timestamp = self.readable_largest
        try:
            self.offset_index.truncate(position)
            self.time_index.truncate(next_offset)
            self._recall_index_ends()
        except DamagedIndexError:
            # Where a bad batch ends the new indexes, whoever reads it is told; cutting goes on.
            with suppress(CorruptLogError):
                self.rebuild_indexes()

    def _recall_index_ends(self) -> None:
        entry = self.time_index.last_entry()
        self._indexed_timestamp = NO_TIMESTAMP if entry is None else entry.timestamp
        noted = self.offset_index.last_entry()
        self.bytes_since_index_entry = self.size - (0 if noted is None else noted.position)
