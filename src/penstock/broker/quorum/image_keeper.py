"""Committed entries become images, in order, each entry once.

Entries that this process has appended are kept until they are committed, and then applied at once, on the
loop. What the log held before the process began is a backlog that may be long: it is read and applied piece
by piece on worker threads (an image never changes, so a thread may make the next one), and everything behind
it waits.
"""

from collections import deque
from collections.abc import Callable, Iterable

from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import MetadataRecord, decode_record
from penstock.model.errors import InvariantError, StorageError
from penstock.raft.entry import Entry, EntryKind
from penstock.records.batch import read_header, split_batches
from penstock.records.record import decode_records
from penstock.storage.log import Log, LogSlice

BACKLOG_BYTES = 1024 * 1024

ImageChanged = Callable[[ClusterImage, ClusterImage], None]


class ImageKeeper:
    """Owns the image, and knows how much of the log is in it."""

    def __init__(
        self,
        log: Log,
        *,
        image: ClusterImage,
        applied_offset: int,
        around: QuorumSurroundings,
        on_change: ImageChanged,
        on_applied: Callable[[tuple[Entry, ...]], None],
    ) -> None:
        self.image = image
        #: The image has everything below.
        self.applied_offset = applied_offset
        #: Of entries applied since the newest snapshot.
        self.bytes_since_snapshot = 0
        self.last_timestamp = 0
        self._log = log
        self._around = around
        self._on_change = on_change
        self._on_applied = on_applied
        self._commit_offset = applied_offset
        #: Where that ends which was in the log before this process; above it everything is in ``_entries``.
        self._backlog_end = log.log_end_offset
        self._entries: deque[Entry] = deque()
        #: Which backlog is read; another one after a snapshot took its place.
        self._reading = 0
        self._is_reading = False

    @property
    def has_backlog(self) -> bool:
        """Whether something from before this process is still to be applied."""
        return self.applied_offset < self._backlog_end

    def appended(self, entries: Iterable[Entry]) -> None:
        """Entries are in the log, not committed yet."""
        self._entries.extend(entries)

    def truncated(self, offset: int) -> None:
        """Everything from ``offset`` on was cut off."""
        if offset < self.applied_offset:
            raise InvariantError(f"the log is cut at {offset}, but applied up to {self.applied_offset}")
        while self._entries and self._entries[-1].end_offset > offset:
            self._entries.pop()
        self._backlog_end = min(self._backlog_end, offset)

    def committed(self, offset: int) -> None:
        """Everything below ``offset`` may be applied."""
        self._commit_offset = max(self._commit_offset, offset)
        if not self.has_backlog:
            self._apply_entries()
        elif not self._is_reading:
            self._is_reading = True
            self._around.tasks.start(self._read_backlog(), name="read the metadata log")

    def installed(self, image: ClusterImage, end_offset: int, *, keeps_log: bool) -> None:
        """A snapshot stands for everything below ``end_offset``; entries behind it may be kept."""
        while self._entries and (self._entries[0].offset < end_offset or not keeps_log):
            self._entries.popleft()
        if not keeps_log:
            self._backlog_end = end_offset
        self._reading += 1
        self._is_reading = False
        self.bytes_since_snapshot = 0
        self._publish(image, end_offset)
        self.committed(end_offset)

    async def _read_backlog(self) -> None:
        reading = self._reading
        try:
            while self.applied_offset < min(self._backlog_end, self._commit_offset):
                end_offset = min(self._backlog_end, self._commit_offset)
                found = self._log.read(self.applied_offset, max_bytes=BACKLOG_BYTES, end_offset=end_offset)
                image, next_offset = await self._around.workers.call(
                    _apply_slice, self.image, self._log, found
                )
                if reading != self._reading:
                    return
                self.bytes_since_snapshot += found.size
                self._publish(image, next_offset)
                self._on_applied(())
        except StorageError as error:
            self._around.fail(error)
            raise
        self._is_reading = False
        if not self.has_backlog:
            self._apply_entries()

    def _apply_entries(self) -> None:
        entries: list[Entry] = []
        while self._entries and self._entries[0].end_offset <= self._commit_offset:
            entries.append(self._entries.popleft())
        if not entries:
            return
        records = [record for entry in entries for record in _records_of(entry)]
        self.bytes_since_snapshot += sum(entry.size_bytes for entry in entries)
        self.last_timestamp = read_header(entries[-1].payload).max_timestamp
        self._publish(self.image.apply(records) if records else self.image, entries[-1].end_offset)
        self._on_applied(tuple(entries))

    def _publish(self, image: ClusterImage, offset: int) -> None:
        before, self.image = self.image, image
        self.applied_offset = offset
        if image is not before:
            self._on_change(before, image)


def _records_of(entry: Entry) -> list[MetadataRecord]:
    if entry.kind is not EntryKind.DATA:
        return []
    return [decode_record(record.value or b"") for record in decode_records(entry.payload)]


def _apply_slice(image: ClusterImage, log: Log, found: LogSlice) -> tuple[ClusterImage, int]:
    """The image after the batches of a slice, and where to go on. Blocks."""
    log.verify(found)
    data = found.read_bytes()
    records: list[MetadataRecord] = []
    next_offset = -1
    for position, header in split_batches(data):
        if not header.is_control:
            records += [decode_record(each.value or b"") for each in decode_records(data, header, position)]
        next_offset = header.next_offset
    if next_offset < 0:
        raise InvariantError(f"{log} was read and no batch was found")
    return image.apply(records), next_offset
