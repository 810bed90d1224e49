"""The segment that compaction is writing: files that end in ``.cleaned`` until they are complete.

Its indexes are kept in memory as well as in files, so that the segment can take its place in the log before
its files have taken theirs.
"""

from penstock.records.batch import BatchHeader
from penstock.storage.filesystem import BytesLike, File, FileSystem, PathMissingError
from penstock.storage.leftovers import CLEANED_SUFFIX
from penstock.storage.segment import INDEX_SUFFIXES, LOG_SUFFIX, Segment
from penstock.storage.sparse_index import IndexWrite
from penstock.storage.transaction_index import AbortedTransaction

WRITE_BYTES = 256 * 1024
"""Gathered before they are written."""

FLUSH_BYTES = 8 * 1024 * 1024
"""Written before they are flushed: one flush of a whole segment would hold up everybody else's."""


class CleanedSegment:
    """Takes batches in the order of their offsets. All of it blocks."""

    __slots__ = (
        "_buffers",
        "_end_offset",
        "_file",
        "_filesystem",
        "_unflushed_bytes",
        "_waiting_bytes",
        "index_writes",
        "record_count",
        "segment",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        base_offset: int,
        *,
        end_offset: int,
        index_interval_bytes: int,
    ) -> None:
        self._filesystem = filesystem
        self._end_offset = end_offset
        self.segment = Segment(
            filesystem,
            directory,
            base_offset,
            index_interval_bytes=index_interval_bytes,
            is_new=True,
            gaps_below=end_offset,
        )
        self._file: File = filesystem.open(self.segment.path() + CLEANED_SUFFIX, create=True)
        self._file.truncate(0)
        self._buffers: list[BytesLike] = []
        self._waiting_bytes = self._unflushed_bytes = 0
        #: What its index files hold once it is finished.
        self.index_writes: list[IndexWrite] = []
        #: Records it holds.
        self.record_count = 0

    def add(self, header: BatchHeader, data: BytesLike) -> None:
        """Put a batch behind the last one."""
        size = len(data)
        self.segment.take(header, self.segment.size, size)
        self.record_count += header.record_count
        self._buffers.append(data)
        self._waiting_bytes += size
        if self._waiting_bytes >= WRITE_BYTES:
            self.write()

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        """Keep the index entry of an abort marker that is kept."""
        self.segment.transaction_index.add(aborted)

    def write(self) -> None:
        """Put what was gathered into the file; the buffers are free afterwards."""
        if not self._buffers:
            return
        self._file.write(self.segment.size - self._waiting_bytes, self._buffers)
        self._unflushed_bytes += self._waiting_bytes
        self._buffers, self._waiting_bytes = [], 0
        if self._unflushed_bytes >= FLUSH_BYTES:
            self._file.flush()
            self._unflushed_bytes = 0

    def finish(self) -> None:
        """Make the log and its indexes durable, under names that mean nothing yet."""
        self.write()
        self._file.flush()
        segment = self.segment
        segment.finish_time_index()
        # All three, also an empty one: the new files then replace every old one.
        segment.transaction_index.replace(segment.transaction_index.entries())
        self.index_writes = segment.capture_indexes(is_final=True)
        for write in self.index_writes:
            write._replace(path=write.path + CLEANED_SUFFIX, cuts=True).run(self._filesystem)
        segment.adopt(self._file)
        # As of every closed segment; its last batch may end before, in logs that Kafka compacted.
        segment.next_offset = self._end_offset
        segment.publish_all()

    def discard(self) -> None:
        """Remove what was written."""
        self._file.close()
        for suffix in (LOG_SUFFIX, *INDEX_SUFFIXES):
            try:
                self._filesystem.unlink(self.segment.path(suffix) + CLEANED_SUFFIX)
            except PathMissingError:
                # Indexes come last, and the whole directory may have gone with its topic.
                continue
