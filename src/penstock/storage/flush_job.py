"""Putting what a log gathered in memory into its files: blocking work, captured so that any thread may do it.

A job holds only what it was given; the log may take more batches meanwhile, for the next job. The order
inside matters (disk rules 16 and 17): when a segment is put aside, its bytes, its indexes and the
producers' snapshot are durable before the next segment's file exists, and that file's name is durable
before its first batch can be acknowledged. So a segment that has a successor is whole, and whatever is
broken in it is damage.
"""

from collections.abc import Sequence

from penstock.storage.atomic_file import replace_file
from penstock.storage.compacted_offset import GapsWidening
from penstock.storage.filesystem import BytesLike, File, FileSystem
from penstock.storage.segment import Segment
from penstock.storage.sparse_index import IndexWrite


class SegmentWrite:
    """What one segment receives in one job."""

    __slots__ = (
        "buffers",
        "closing",
        "creates",
        "end_offset",
        "end_position",
        "file",
        "largest",
        "position",
        "segment",
    )

    def __init__(
        self,
        segment: Segment,
        position: int,
        buffers: Sequence[BytesLike],
        closing: "SegmentClosing | None",
    ) -> None:
        self.segment = segment
        self.position = position
        self.buffers = buffers
        self.closing = closing
        self.end_position = segment.size
        self.end_offset = segment.next_offset
        self.largest = (segment.largest_timestamp, segment.offset_of_largest_timestamp)
        #: Whether the job has to create the file.
        self.creates = False
        #: Known when the job begins, or once it has created it.
        self.file: File | None = None

    def bind(self) -> None:
        """Decide, when a job begins, whether that job creates the file.

        Not before: a segment may be put aside while an earlier job is still creating it, and creating it
        a second time would empty it.
        """
        self.creates = not self.segment.is_created
        self.file = None if self.creates else self.segment.file


class SegmentClosing:
    """What is written when a segment is put aside."""

    __slots__ = ("index_writes", "snapshot", "snapshot_path")

    def __init__(self, index_writes: list[IndexWrite], snapshot_path: str, snapshot: bytes | None) -> None:
        self.index_writes = index_writes
        self.snapshot_path = snapshot_path
        #: None when nobody knows the producers at the moment, which only makes a later start read more.
        self.snapshot = snapshot


class FlushJob:
    """One log's writes and their flush; ``run`` is both, and both may be called on any thread."""

    __slots__ = (
        "_directory",
        "_filesystem",
        "_gaps",
        "_preallocated_bytes",
        "is_durable",
        "record_count",
        "writes",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        writes: list[SegmentWrite],
        *,
        is_durable: bool,
        record_count: int,
        preallocated_bytes: int,
        gaps: GapsWidening | None = None,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        # To be written down first: without it the next start takes the gaps between the batches for damage.
        self._gaps = gaps
        self._preallocated_bytes = preallocated_bytes
        #: One per segment, oldest first, never empty.
        self.writes = writes
        #: Whether the job ends with a flush; a topic may ask for less.
        self.is_durable = is_durable
        #: Records that are in the log with this job and were not before.
        self.record_count = record_count

    @property
    def end_offset(self) -> int:
        """Where the log ends for whoever reads it, once the job is finished."""
        return self.writes[-1].end_offset

    @property
    def size_bytes(self) -> int:
        """Bytes of batches to write."""
        return sum(write.end_position - write.position for write in self.writes)

    @property
    def is_plain(self) -> bool:
        """Whether it only adds to one file: no segment is created or put aside, and nothing comes first."""
        write = self.writes[0]
        return len(self.writes) == 1 and not write.creates and write.closing is None and self._gaps is None

    @property
    def flush_descriptor(self) -> int | None:
        """Of a plain job: the descriptor on which the kernel may flush by itself."""
        file = self.writes[0].file
        return None if file is None else file.flush_descriptor()

    def run(self) -> None:
        """Write, then flush."""
        self.write()
        self.flush()

    def write(self) -> None:
        """Put the batches into the files, creating and putting aside segments as needed."""
        if self._gaps is not None:
            self._gaps.run()
        for write in self.writes:
            file = self._create(write) if write.creates else write.file
            assert file is not None
            if write.buffers:
                file.write(write.position, write.buffers)
            if write.closing is not None:
                self._close(write, write.closing, file)

    def flush(self) -> None:
        """Make the newest segment durable; older ones already are."""
        file = self.writes[-1].file
        if self.is_durable and file is not None:
            file.flush()

    def _create(self, write: SegmentWrite) -> File:
        # A file of that name can only be a leftover of a write that failed before.
        write.file = create_segment_file(self._filesystem, write.segment.path(), self._preallocated_bytes)
        self._filesystem.sync_directory(self._directory)
        return write.file

    def _close(self, write: SegmentWrite, closing: SegmentClosing, file: File) -> None:
        # The segment may have been preallocated though the topic no longer asks for that.
        if file.size() > write.end_position:
            file.truncate(write.end_position)
        file.flush()
        for index_write in closing.index_writes:
            index_write.run(self._filesystem)
        if closing.snapshot is not None:
            replace_file(self._filesystem, closing.snapshot_path, closing.snapshot)


def create_segment_file(filesystem: FileSystem, path: str, preallocated_bytes: int) -> File:
    """A new, empty, flushed file for batches; its name is durable only once the directory is synced."""
    file = filesystem.open(path, create=True)
    try:
        file.truncate(0)
        if preallocated_bytes:
            file.preallocate(preallocated_bytes)
        file.flush()
    except BaseException:
        file.close()
        raise
    return file
