"""The part of a log that only looks: offsets, reading, checking, searching.

``penstock.storage.log.Log`` is the whole; it adds upkeep and, last, appending.
"""

from bisect import bisect_left
from itertools import islice
from operator import attrgetter

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError
from penstock.model.ids import Millis, Offset, TopicPartition
from penstock.storage.compacted_offset import GapsFile
from penstock.storage.damage_report import Damage
from penstock.storage.derived_state import read_aborted
from penstock.storage.filesystem import FileSystem
from penstock.storage.leader_epochs import EpochEnd
from penstock.storage.log_config import FOREVER_MS, LogConfig
from penstock.storage.log_reader import LogReader, LogSlice
from penstock.storage.log_writer import LogWriter
from penstock.storage.recovery import OpenedLog
from penstock.storage.retention import SegmentFacts
from penstock.storage.segment import Segment
from penstock.storage.segment_end import find_end
from penstock.storage.segment_lookup import locate, measure_largest_timestamp
from penstock.storage.segments import Segments
from penstock.storage.tail_cache import TailCache
from penstock.storage.timestamp_search import TimestampOffset, first_at_or_after, newest_timestamp
from penstock.storage.transaction_index import AbortedTransaction
from penstock.storage.verification import needs_verification, verify

TAIL_BYTES_DEFAULT = 16 * 1024 * 1024
"""The tail cache of a log that is given none."""


class ReadableLog:
    """A log's state, and every question that can be asked of it."""

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        *,
        opened: OpenedLog,
        tail_cache: TailCache | None = None,
        now: int = 0,
    ) -> None:
        self.topic_partition = topic_partition
        self.directory = directory
        self.config = config
        self.leader_epochs = opened.leader_epochs
        self.producers = opened.producers
        self.recovery_report = opened.report
        self.log_start_offset = opened.log_start_offset
        #: Everything below may be acknowledged and read; moves back only by truncation.
        self.flushed_offset = opened.end_offset
        #: Everything below is durable; the data directory keeps it for the next start.
        self.recovery_point = opened.recovery_point
        #: As far as its owner said; never truncated below.
        self.high_watermark = 0
        self._filesystem = filesystem
        self._opened_at = now
        # The newest time that upkeep has told; copied batches come without one.
        self._told_time = now
        # What the disk knows of gaps.
        self._gaps = GapsFile(filesystem, directory, opened.gaps)
        self._snapshot_offsets = opened.snapshot_offsets
        self._segments = Segments(opened.segments)
        self._tail = (TailCache(TAIL_BYTES_DEFAULT) if tail_cache is None else tail_cache).tail()
        self._reader = LogReader(self._segments, self._tail)
        self._writer = LogWriter(
            filesystem, directory, self._segments, opened.producers, tail=self._tail, config=config
        )
        # Why nothing can be appended now.
        self._refusal: str | None = None
        if opened.report.damage is not None:
            self._take_offline(opened.report.damage)

    def __repr__(self) -> str:
        return f"Log({self.topic_partition}, {self.log_start_offset} to {self.log_end_offset})"

    @property
    def log_end_offset(self) -> int:
        """The next offset to be given."""
        return self._writer.end_offset

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits for a flush job."""
        return self._writer.is_dirty

    @property
    def is_offline(self) -> bool:
        """Whether the log found itself damaged and takes nothing more until somebody decides."""
        return self.recovery_report.damage is not None

    @property
    def refusal(self) -> str | None:
        """Why nothing can be appended now; None when it can."""
        return self._refusal

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches."""
        return self._segments.size_bytes

    @property
    def largest_timestamp(self) -> int:
        """The largest timestamp of what can be read; -1 when there is none. May read files."""
        return max(measure_largest_timestamp(segment) for segment in self._segments)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction began whose end is not below the high watermark; None without one."""
        return self.producers.first_unstable_offset

    def update_high_watermark(self, high_watermark: int) -> None:
        """The owner's high watermark moved: transactions that ended below it are stable."""
        self.high_watermark = high_watermark
        self.producers.release_completed(high_watermark)

    def read(
        self, offset: int, *, max_bytes: int, end_offset: int, minimum_one_batch: bool = True
    ) -> LogSlice:
        """Batches from the one that contains ``offset`` up to ``end_offset``, which must be a batch's border.

        Never beyond what is flushed. Reads at most an index block and a few headers. Raises
        OFFSET_OUT_OF_RANGE outside the log, and ``CorruptLogError`` where it is known to be bad.
        """
        if not self.log_start_offset <= offset <= self._writer.end_offset:
            raise self._out_of_range(offset)
        if end_offset > self.flushed_offset:
            end_offset = self.flushed_offset
        return self._reader.read(offset, end_offset, max_bytes, minimum_one_batch=minimum_one_batch)

    def needs_verification(self, found: LogSlice) -> bool:
        """Whether some bytes of the slice come from a file and were never checked by this process."""
        return needs_verification(found)

    def verify(self, found: LogSlice) -> None:
        """Check the slice's batches; raises ``CorruptLogError``, and never serves that range. Blocks."""
        verify(found)

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first readable record of ``timestamp`` or later. Blocks: looks inside a batch."""
        return first_at_or_after(self._segments, timestamp, self.log_start_offset)

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """The first readable record with the largest timestamp. Blocks: looks inside a batch."""
        return newest_timestamp(self._segments, self.log_start_offset)

    def timestamp_at(self, offset: int) -> int | None:
        """The timestamp of the batch with the first record at or behind ``offset``, the largest it has.

        None when nothing that can be read is there. Reads an index block and a few headers, as ``read`` does.
        """
        for segment in self._segments.from_offset(offset):
            found = locate(segment, offset)
            if found is not None:
                return found.header.max_timestamp
        return None

    def offset_for_leader_epoch(self, epoch: int) -> EpochEnd:
        """The largest epoch up to ``epoch`` and where it ends; -1 and -1 when unknown."""
        return self.leader_epochs.end_of(epoch, self._writer.end_offset)

    def border_before(self, offset: int) -> int:
        """The base offset of the batch that contains ``offset``; at most the flushed offset."""
        if offset >= self.flushed_offset:
            return self.flushed_offset
        return find_end(self._segments.from_offset(offset)[0], offset).next_offset

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Those that a reader of committed data must know for this range (end excluded)."""
        found: list[AbortedTransaction] = []
        for segment in self._segments.from_offset(start_offset):
            entries = self._aborted_of(segment)
            # They are in the order of their markers.
            first = bisect_left(entries, start_offset, key=attrgetter("last_offset"))
            for aborted in islice(entries, first, None):
                if aborted.overlaps(start_offset, end_offset):
                    found.append(aborted)
                if aborted.last_stable_offset >= end_offset:
                    return found
        return found

    def describe_segments(self) -> list[SegmentFacts]:
        """The segments, oldest first. May read files."""
        return [self._facts(segment) for segment in self._segments]

    def _facts(self, segment: Segment) -> SegmentFacts:
        was_open = segment.is_open or not segment.is_created
        try:
            timestamp = measure_largest_timestamp(segment)
        except CorruptLogError:
            # Whoever reads it gets the error; until then nothing may go because its age is unknown.
            timestamp = FOREVER_MS
        if not was_open:
            # Nobody can hold a file that was just opened, and a log may have very many segments.
            segment.close()
        return SegmentFacts(
            base_offset=Offset(segment.base_offset),
            next_offset=Offset(segment.next_offset),
            size_bytes=segment.size,
            largest_timestamp=Millis(self._untimed_until(segment) if timestamp < 0 else timestamp),
            is_active=segment is self._writer.active,
        )

    def _untimed_until(self, segment: Segment) -> int:
        """When its last batch came, for all that is known: before this process, if not in it."""
        return self._opened_at if segment.untimed_until is None else segment.untimed_until

    def _aborted_of(self, segment: Segment) -> list[AbortedTransaction]:
        entries = segment.transaction_index.entries()
        if segment.transaction_index.is_damaged:
            segments = [known for known in self._segments if known.base_offset <= segment.base_offset]
            entries = read_aborted(self._filesystem, self.directory, self._snapshot_offsets, segments)
            segment.transaction_index.replace(entries)
        return entries

    def _take_offline(self, damage: Damage) -> None:
        """Take nothing more until somebody decides."""
        self.recovery_report.damage = damage
        self._refusal = f"{damage.path} is damaged at offset {damage.offset}: {damage.reason}"

    def _refused(self) -> ApiError:
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition}: {self._refusal}")

    def _out_of_range(self, offset: int) -> ApiError:
        if self.is_offline and offset > self.log_end_offset:
            # It may well have existed: what lies behind the damage is not gone, only out of reach.
            return self._refused()
        return ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Offset {offset} of {self.topic_partition} is outside "
            f"{self.log_start_offset} to {self.log_end_offset}.",
        )
