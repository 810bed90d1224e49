"""One partition's log: batches in, batches out, and the promise that what is flushed stays.

A log lives on one thread, usually a broker's loop. What blocks is a *job*: ``begin_...`` captures the work,
``job.run()`` may happen on any thread, ``finish_...`` on the loop takes note. Between the two the log goes
on. So ``append`` never touches a disk: it checks the producer's sequence, gives the batch its offsets in
place, and keeps the buffer, uncopied, for the next flush and for readers near the end.

Four offsets tell how far things are, and each is at most the next: ``log_start_offset`` (oldest that may be
read), ``recovery_point`` (durable below), ``flushed_offset`` (as safe as the topic asks below; acknowledge
and serve up to here), ``log_end_offset`` (next to be given).

It needs no broker:

>>> from random import Random
>>> from penstock.model.ids import TopicPartition
>>> from penstock.records.batch import read_header
>>> from penstock.records.builder import build_batch
>>> from penstock.records.record import NewRecord, decode_records
>>> from penstock.storage.log_config import LogConfig
>>> from penstock.storage.memory_filesystem import MemoryFileSystem
>>> disk = MemoryFileSystem(Random(1))
>>> disk.make_directory("/data")
>>> log = Log.create(disk, "/data/orders-0", TopicPartition("orders", 0), LogConfig())
>>> batch = build_batch([NewRecord(value=b"one"), NewRecord(value=b"two")])
>>> log.append(batch, read_header(batch), leader_epoch=0, now=1).last_offset
1
>>> log.flush()
>>> found = log.read(0, max_bytes=1000, end_offset=log.flushed_offset)
>>> [record.value for record in decode_records(found.read_bytes())]
[b'one', b'two']
>>> log.close()
"""

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import TopicId, TopicPartition
from penstock.records.batch import (
    CONTROL_BIT,
    BatchHeader,
    WritableBuffer,
    read_header,
    stamp,
    stamp_log_append_time,
)
from penstock.records.control import TransactionMarker, decode_transaction_marker
from penstock.storage.append_result import NO_LOG_APPEND_TIME, AppendResult
from penstock.storage.atomic_file import replace_file
from penstock.storage.filesystem import BytesLike, FileSystem, join_path, parent_directory
from penstock.storage.flush_job import FlushJob, SegmentClosing, SegmentWrite
from penstock.storage.leader_epochs import EpochEnd
from penstock.storage.log_config import FOREVER_MS, LogConfig
from penstock.storage.log_reader import FilePiece, LogReader, LogSlice, MemoryPiece
from penstock.storage.partition_metadata import PARTITION_METADATA, partition_metadata_content
from penstock.storage.producer_snapshot import SUFFIX as SNAPSHOT_SUFFIX
from penstock.storage.producer_snapshot import encode_snapshot
from penstock.storage.recovery import OpenedLog, RecoveryHints, RecoveryReport, open_files
from penstock.storage.replay import aborted_by
from penstock.storage.segment import RELATIVE_OFFSET_MAX, Segment, file_name
from penstock.storage.segments import Segments
from penstock.storage.tail_cache import TailCache

__all__ = ["AppendResult", "FilePiece", "FlushJob", "Log", "LogSlice", "MemoryPiece", "RecoveryHints"]

TAIL_BYTES_DEFAULT = 16 * 1024 * 1024
"""The tail cache of a log that is given none."""

_new_tuple = tuple.__new__


class Log:
    """The log of one partition."""

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
        self.recovery_report: RecoveryReport = opened.report
        self.log_start_offset = opened.log_start_offset
        self.log_end_offset = opened.end_offset
        #: Everything below may be acknowledged and read; moves back only by truncation.
        self.flushed_offset = opened.end_offset
        #: Everything below is durable; the data directory keeps it for the next start.
        self.recovery_point = opened.recovery_point
        self._filesystem = filesystem
        self._snapshot_offsets = opened.snapshot_offsets
        self._segments = Segments(opened.segments)
        self._active = self._segments.active
        self._tail = (tail_cache or TailCache(TAIL_BYTES_DEFAULT)).tail()
        self._reader = LogReader(self._segments, self._tail)
        # Batches that no job has taken yet: those of older segments as finished writes, then the active one's.
        self._rolled_writes: list[SegmentWrite] = []
        self._pending: list[BytesLike] = []
        self._pending_position = self._active.size
        self._pending_records = 0
        # Records that are written but not flushed, where the topic allows that.
        self._unflushed_records = 0
        self._job: FlushJob | None = None
        # Why nothing can be appended now.
        self._refusal: str | None = None
        self._needs_rewind = False
        damage = opened.report.damage
        if damage is not None:
            self._refusal = f"{damage.path} is damaged at offset {damage.offset}: {damage.reason}"
        self._opened_at = now
        # A batch that would bring the active segment beyond one of these begins a new segment.
        self._roll_size = self._roll_timestamp = self._roll_offset = 0
        self._has_log_append_time = False
        self._prepare_roll()

    @classmethod
    def create(
        cls,
        filesystem: FileSystem,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        *,
        topic_id: TopicId | None = None,
        tail_cache: TailCache | None = None,
        now: int = 0,
    ) -> "Log":
        """Make the directory of a new partition and its first segment, durably. Blocks."""
        filesystem.make_directory(directory)
        filesystem.sync_directory(parent_directory(directory))
        if topic_id is not None:
            path = join_path(directory, PARTITION_METADATA)
            replace_file(filesystem, path, partition_metadata_content(topic_id))
        return cls.open(filesystem, directory, topic_partition, config, tail_cache=tail_cache, now=now)

    @classmethod
    def open(
        cls,
        filesystem: FileSystem,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        *,
        tail_cache: TailCache | None = None,
        now: int = 0,
        recovery: RecoveryHints | None = None,
    ) -> "Log":
        """Open the directory of an existing partition, recovering it if need be. Blocks."""
        opened = open_files(filesystem, directory, config, recovery or RecoveryHints())
        return cls(
            filesystem, directory, topic_partition, config, opened=opened, tail_cache=tail_cache, now=now
        )

    def __repr__(self) -> str:
        return f"Log({self.topic_partition}, {self.log_start_offset} to {self.log_end_offset})"

    @property
    def is_dirty(self) -> bool:
        """Whether anything waits for a flush job."""
        return bool(self._pending or self._rolled_writes)

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

    def configure(self, config: LogConfig) -> None:
        """Live by other settings from now on."""
        self.config = config
        self._prepare_roll()

    def append(
        self,
        batch: WritableBuffer,
        header: BatchHeader,
        *,
        leader_epoch: int,
        now: int,
        is_client: bool = True,
    ) -> AppendResult:
        """Put a batch at the end of the log, as its leader. The buffer is stamped in place and kept.

        The batch was validated before; nobody may change it afterwards. ``is_client`` is False for what
        coordinators write, whose producers need no sequence.
        """
        if self._refusal is not None:
            raise self._refused()
        producer_id = header[9]
        marker: TransactionMarker | None = None
        if producer_id >= 0:
            if header[5] & CONTROL_BIT:
                marker = self._check_marker(batch)
            elif is_client:
                first = self.producers.check(header)
                if first is not None:
                    time = first.timestamp if self.config.log_append_time else NO_LOG_APPEND_TIME
                    return AppendResult(
                        first.base_offset, first.last_offset, time, True, self.log_start_offset
                    )
        log_append_time = NO_LOG_APPEND_TIME
        if self._has_log_append_time:
            stamp_log_append_time(batch, now)
            header = read_header(batch)
            log_append_time = now
        base_offset = self.log_end_offset
        stamp(batch, base_offset, leader_epoch)
        if leader_epoch != self.leader_epochs.latest_epoch:
            self.leader_epochs.assign(leader_epoch, base_offset)
        last_offset = self._add(batch, header, base_offset)
        if marker is not None:
            self._apply_marker(marker, base_offset, header[8])
        elif producer_id >= 0:
            self.producers.apply(header, base_offset)
        return _new_tuple(  # The named constructor costs twice as much.
            AppendResult, (base_offset, last_offset, log_append_time, False, self.log_start_offset)
        )

    def _add(self, batch: WritableBuffer, header: BatchHeader, base_offset: int) -> int:
        """Put a stamped batch behind the last one, rolling before it if it is time to."""
        size = header[1] + 12
        last_offset = base_offset + header[6]
        timestamp = header[8]
        segment = self._active
        position = segment.size
        if position and (
            position + size > self._roll_size
            or timestamp > self._roll_timestamp
            or last_offset > self._roll_offset
        ):
            segment = self._roll()
            position = 0
        if not position:
            segment.first_timestamp = timestamp
            self._prepare_roll()
        if segment.index_batch(timestamp, last_offset, position, size) and self._index_is_full(segment):
            self._roll_size = 0
        segment.size = position + size
        segment.next_offset = self.log_end_offset = last_offset + 1
        self._pending.append(batch)
        self._pending_records += header[12]
        self._tail.append(base_offset, size, batch)
        return last_offset

    def begin_flush(self, *, durably: bool = False) -> FlushJob | None:
        """Capture what waits, for a job to write; None when there is nothing, or a job is under way.

        The job flushes if the topic's ``flush_messages`` is reached or ``durably`` asks for it.
        """
        if self._job is not None or self._needs_rewind:
            return None
        is_due = self._unflushed_records + self._pending_records >= self.config.flush_messages or durably
        if not self.is_dirty and not (is_due and self.recovery_point < self.flushed_offset):
            return None
        writes = [*self._rolled_writes, self._take_write()]
        self._rolled_writes = []
        self._job = FlushJob(
            self._filesystem,
            self.directory,
            writes,
            is_durable=is_due,
            record_count=self._pending_records,
            preallocated_bytes=self._preallocated_bytes,
        )
        self._pending_records = 0
        return self._job

    def finish_flush(self, job: FlushJob) -> None:
        """The job succeeded: what it wrote may be acknowledged and read."""
        self._end_job(job)
        for write in job.writes:
            segment = write.segment
            if write.creates and write.file is not None:
                segment.adopt(write.file)
                self.recovery_point = segment.base_offset
            segment.publish(write.end_position, write.end_offset)
            if write.closing is not None:
                segment.settle_indexes(write.closing.index_writes)
                self._snapshot_offsets.add(write.end_offset)
        self.flushed_offset = job.end_offset
        if job.is_durable:
            self.recovery_point = job.end_offset
            self._unflushed_records = 0
        else:
            self._unflushed_records += job.record_count

    def flush(self) -> None:
        """Write and flush everything now; blocks. For a log that is used without a broker."""
        while (job := self.begin_flush(durably=True)) is not None:
            job.run()
            self.finish_flush(job)

    def read(
        self, offset: int, *, max_bytes: int, end_offset: int, minimum_one_batch: bool = True
    ) -> LogSlice:
        """Batches from the one that contains ``offset`` up to ``end_offset``, which must be a batch's border.

        Never beyond what is flushed. Raises OFFSET_OUT_OF_RANGE outside the log.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise self._out_of_range(offset)
        return self._reader.read(
            offset, min(end_offset, self.flushed_offset), max_bytes, minimum_one_batch=minimum_one_batch
        )

    def offset_for_leader_epoch(self, epoch: int) -> EpochEnd:
        """The largest epoch up to ``epoch`` and where it ends; -1 and -1 when unknown."""
        return self.leader_epochs.end_of(epoch, self.log_end_offset)

    def _roll(self) -> Segment:
        """Put the active segment aside and go on with a new one; files follow with the next job."""
        old = self._active
        old.finish_time_index()
        snapshot_path = join_path(self.directory, file_name(old.next_offset, SNAPSHOT_SUFFIX))
        closing = SegmentClosing(old.capture_indexes(), snapshot_path, encode_snapshot(self.producers))
        self._rolled_writes.append(self._take_write(closing))
        self._active = Segment(
            self._filesystem,
            self.directory,
            old.next_offset,
            index_interval_bytes=self.config.index_interval_bytes,
            is_new=True,
        )
        self._segments.add(self._active)
        self._pending_position = 0
        self._prepare_roll()
        return self._active

    def _take_write(self, closing: SegmentClosing | None = None) -> SegmentWrite:
        segment = self._active
        buffers, self._pending = self._pending, []
        position, self._pending_position = self._pending_position, segment.size
        return SegmentWrite(segment, position, buffers, creates=not segment.is_created, closing=closing)

    def _prepare_roll(self) -> None:
        """Work out at which size, timestamp and offset the active segment is full."""
        config, segment = self.config, self._active
        self._has_log_append_time = config.log_append_time
        self._roll_size = config.segment_bytes
        self._roll_offset = segment.base_offset + RELATIVE_OFFSET_MAX
        first = segment.first_timestamp
        self._roll_timestamp = FOREVER_MS if first is None or first < 0 else first + config.segment_ms
        if segment.size and self._index_is_full(segment):
            self._roll_size = 0

    def _index_is_full(self, segment: Segment) -> bool:
        # The time index keeps room for the entry that every segment gets when it is put aside.
        limit = self.config.segment_index_bytes
        return len(segment.offset_index) * 8 + 8 > limit or len(segment.time_index) * 12 + 24 > limit

    @property
    def _preallocated_bytes(self) -> int:
        return self.config.segment_bytes if self.config.preallocate else 0

    def _end_job(self, job: FlushJob) -> None:
        if job is not self._job:
            raise InvariantError(f"{self} did not begin this job, or it has ended already")
        self._job = None

    def _check_marker(self, batch: WritableBuffer) -> TransactionMarker | None:
        marker = decode_transaction_marker(batch)
        if marker is not None:
            self.producers.check_marker(marker)
        return marker

    def _apply_marker(self, marker: TransactionMarker, offset: int, timestamp: int) -> None:
        completed = self.producers.apply_marker(marker, offset=offset, timestamp=timestamp)
        aborted = None if completed is None else aborted_by(completed, self.producers)
        if aborted is not None:
            self._active.transaction_index.add(aborted)

    def _refused(self) -> ApiError:
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.topic_partition}: {self._refusal}")

    def _out_of_range(self, offset: int) -> ApiError:
        if self.is_offline and offset > self.log_end_offset:
            return self._refused()
        return ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Offset {offset} of {self.topic_partition} is outside "
            f"{self.log_start_offset} to {self.log_end_offset}.",
        )
