"""The upkeep of a log: writing what waits, coming back after a failure, letting old data go, closing.

Whatever blocks is a job: ``begin_...`` captures it on the loop, ``run`` may happen on any thread,
``finish_...`` on the loop takes note. At most one flush job and at most one checkpoint job is under way at
a time.
"""

from penstock.model.errors import FlushFailedError, InvariantError, StorageError
from penstock.model.ids import Millis, Offset
from penstock.storage.checkpoint_job import CheckpointJob, Snapshot
from penstock.storage.compacted_offset import Gaps, GapsWidening
from penstock.storage.compaction import Compaction
from penstock.storage.deletion_job import DeletionJob
from penstock.storage.derived_state import LogBorder
from penstock.storage.flush_job import FlushJob
from penstock.storage.log_config import UNLIMITED, LogConfig
from penstock.storage.producer_snapshot import encode_snapshot
from penstock.storage.readable_log import ReadableLog
from penstock.storage.repair_job import RepairJob
from penstock.storage.restart_job import RestartJob
from penstock.storage.retention import expired_segments
from penstock.storage.rewind_job import RewindJob
from penstock.storage.segment import Segment
from penstock.storage.segment_swap import SegmentSwap


class MaintainedLog(ReadableLog):
    """A log with its jobs."""

    # Records that are written but not flushed, where the topic allows that.
    _unflushed_records = 0
    _flush_job: FlushJob | None = None
    # Gaps between batches that no job has taken yet, where the disk does not say that there may be any.
    _new_gaps: Gaps | None = None
    _checkpoint_job: CheckpointJob | None = None
    _checkpoint_is_due = True
    # Compaction: the pass under way, and a group whose files are on their way to their final names.
    _compaction: Compaction | None = None
    _swap: SegmentSwap | None = None
    # The log is being cut, begins anew or is repaired: memory has, the files follow.
    _cut: RewindJob | RestartJob | RepairJob | None = None
    #: Whether the files will not follow before the next start.
    cut_is_given_up = False
    _needs_rewind = False
    # Files of these may be left over from a failed job.
    _unborn_segments: tuple[Segment, ...] = ()

    @property
    def needs_rewind(self) -> bool:
        """Whether a write failed, and nothing can be appended before the files are brought back."""
        return self._needs_rewind

    def configure(self, config: LogConfig) -> None:
        """Live by other settings from now on."""
        self.config = config
        self._writer.configure(config)

    def begin_flush(self, *, durably: bool = False) -> FlushJob | None:
        """Capture what waits, for a job to write; None when there is nothing, or a job is under way.

        The job flushes if the topic's ``flush_messages`` is reached or ``durably`` asks for it.
        """
        if self._flush_job is not None or self._cut is not None or self._refusal is not None:
            return None
        records = self._writer.pending_records
        is_due = durably or self._unflushed_records + records >= self.config.flush_messages
        if not self._writer.is_dirty and not (durably and self.recovery_point < self.flushed_offset):
            return None
        gaps, self._new_gaps = self._new_gaps, None
        self._flush_job = FlushJob(
            self._filesystem,
            self.directory,
            self._writer.take_writes(),
            is_durable=is_due,
            record_count=records,
            preallocated_bytes=self.config.segment_bytes if self.config.preallocate else 0,
            gaps=None if gaps is None else GapsWidening(self._gaps, gaps),
        )
        return self._flush_job

    def finish_flush(self, job: FlushJob) -> None:
        """The job succeeded: what it wrote may be acknowledged and read."""
        self._end_flush(job)
        for write in job.writes:
            segment = write.segment
            if write.creates and write.file is not None:
                segment.adopt(write.file)
                self.recovery_point = segment.base_offset
            segment.publish(write.end_position, write.end_offset, write.largest)
            if write.closing is not None:
                segment.settle_indexes(write.closing.index_writes)
                if write.closing.snapshot is not None:
                    self._snapshot_offsets.add(write.end_offset)
        self.flushed_offset = job.end_offset
        self._checkpoint_is_due = True
        if job.is_durable:
            self.recovery_point = job.end_offset
            self._unflushed_records = 0
        else:
            self._unflushed_records += job.record_count

    def fail_flush(self, job: FlushJob, error: StorageError) -> None:
        """The job failed: everything above the flushed offset is discarded, whoever appended it.

        A full disk is temporary: appends are refused until ``rewind`` has cut the files back. After a
        failed flush nothing this process does can be believed, so the log refuses everything for good.
        """
        self._end_flush(job)
        for write in job.writes:
            if write.creates and write.file is not None:
                write.file.close()
        self._refusal = str(error)
        self._unborn_segments += tuple(self._writer.discard())
        self._new_gaps = None
        self._reader.forget()
        self.leader_epochs.truncate_end(self.flushed_offset)
        self._needs_rewind = not isinstance(error, FlushFailedError)

    def begin_rewind(self) -> RewindJob | None:
        """Capture the way back after a failed write; None when there is nothing to rewind."""
        if not self._needs_rewind or self._is_occupied:
            return None
        return self._rewind_job(list(self._unborn_segments))

    def finish_rewind(self, job: RewindJob) -> None:
        """The files are as if the failed write had never been: take appends again."""
        self._restart_from(job)
        self._unborn_segments = ()
        self._needs_rewind = False
        self._refusal = None

    def rewind(self) -> None:
        """Do all of it now; blocks. Raises what went wrong, and can then be repeated."""
        job = self.begin_rewind()
        if job is not None:
            job.run()
            self.finish_rewind(job)

    def flush(self) -> None:
        """Write and flush everything now; blocks. For a log that is used without a broker."""
        job = self.begin_flush(durably=True)
        if job is None:
            return
        try:
            job.run()
        except StorageError as error:
            self.fail_flush(job, error)
            raise
        self.finish_flush(job)

    def advance_log_start(self, offset: int) -> bool:
        """Let nothing before ``offset`` be read any more; whether that changes anything.

        The caller makes the new start durable. Segments wholly before it go with the next ``expire``.
        """
        if offset > self.flushed_offset:
            raise self._out_of_range(offset)
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.leader_epochs.truncate_start(offset)
        return True

    @property
    def awaits_segment(self) -> bool:
        """Whether the active segment is in memory only; its file comes with the next flush job."""
        return not self._writer.active.is_created

    def roll_if_due(self, now: int) -> bool:
        """Begin a new segment if the active one is too old; files follow with the next flush job."""
        self._told_time = now
        if self._refusal is not None or not self._writer.is_due_to_roll(now, self._opened_at):
            return False
        self._writer.roll()
        return True

    def expire(self, now: int, high_watermark: int) -> DeletionJob | None:
        """Take out segments that retention or the log's start let go, for a job to delete.

        Also forgets producers that were silent too long. May read files.
        """
        self.producers.expire(now, self.config.producer_id_expiration_ms)
        if self._refusal is not None or self._compaction is not None or self._is_occupied:
            return None
        deletes = self.config.deletes_old_segments
        expired = expired_segments(
            self.describe_segments(),
            now=Millis(now),
            retention_ms=self.config.retention_ms if deletes else UNLIMITED,
            retention_bytes=self.config.retention_bytes if deletes else UNLIMITED,
            high_watermark=Offset(min(high_watermark, self.flushed_offset)),
            log_start_offset=Offset(self.log_start_offset),
        )
        if self._writer.active.base_offset in expired:
            # It can go once its successor is on the disk.
            self._writer.roll()
        count = sum(segment.is_created for segment in self._closed_segments(expired))
        if count == 0:
            return None
        dropped = self._segments.drop_first(count)
        self._reader.forget()
        self._snapshot_offsets.difference_update(segment.base_offset for segment in dropped)
        self.advance_log_start(max(self.log_start_offset, self._segments.first.base_offset))
        return DeletionJob(
            self._filesystem,
            self.directory,
            dropped,
            log_start_offset=self.log_start_offset,
            delay_ms=self.config.file_delete_delay_ms,
        )

    def begin_checkpoint(self) -> CheckpointJob | None:
        """Capture what the derived files lack; None when that is nothing, or a job is under way."""
        if not self._checkpoint_is_due or self._is_occupied or self._refusal is not None:
            return None
        self._checkpoint_is_due = False
        job = self._capture_checkpoint(is_final=False)
        if job.is_empty:
            return None
        self._checkpoint_job = job
        return job

    def finish_checkpoint(self, job: CheckpointJob) -> None:
        """The job succeeded."""
        self._checkpoint_job = None
        for segment, writes in job.index_writes:
            segment.settle_indexes(writes)
        if job.snapshot is not None:
            self._snapshot_offsets.add(job.snapshot.offset)
        if job.epochs is not None:
            self.leader_epochs.settle(job.epochs)

    def fail_checkpoint(self, job: CheckpointJob) -> None:
        """The job failed; what it should have written is captured again next time."""
        self._checkpoint_job = None
        self._checkpoint_is_due = True

    def begin_close(self) -> CheckpointJob:
        """Capture all that the next start would otherwise have to find out; everything must be flushed.

        A log that refuses appends is closed as it is: its files are evidence, or are brought back at the
        next start.
        """
        if self._cut is not None and not self.cut_is_given_up:
            raise InvariantError(f"{self} is closed while it is being cut")
        if self._refusal is None and (self._writer.is_dirty or self._flush_job is not None):
            raise InvariantError(f"{self} is closed before it is flushed")
        if self._refusal is not None:
            return CheckpointJob(self._filesystem, self.directory, is_final=False)
        self._writer.active.finish_time_index()
        job = self._capture_checkpoint(is_final=True)
        job.trimmed = self._writer.active
        if self.log_end_offset not in self._snapshot_offsets:
            job.snapshot = Snapshot(self.log_end_offset, encode_snapshot(self.producers))
        return job

    def finish_close(self, job: CheckpointJob) -> None:
        """Let go of all files; nobody may use the log afterwards."""
        self.finish_checkpoint(job)
        self._refusal = "the log is closed"
        self._tail.clear()
        for segment in self._segments:
            segment.close()

    def close(self) -> None:
        """Flush everything, write what is derived, and let go; blocks."""
        self.flush()
        job = self.begin_close()
        job.run()
        self.finish_close(job)

    @property
    def _is_occupied(self) -> bool:
        """Whether a job has files of closed segments in its hands."""
        return self._checkpoint_job is not None or self._swap is not None or self._cut is not None

    def _end_flush(self, job: FlushJob) -> None:
        if job is not self._flush_job:
            raise InvariantError(f"{self} did not begin this job, or it has ended already")
        self._flush_job = None

    def _closed_segments(self, base_offsets: list[Offset]) -> list[Segment]:
        """Those of the named segments that have a successor on the disk."""
        on_disk = [segment for segment in self._segments if segment.is_created]
        return [segment for segment in on_disk[:-1] if segment.base_offset in base_offsets]

    def _rewind_job(self, removed_segments: list[Segment]) -> RewindJob:
        active = self._writer.active
        return RewindJob(
            self._filesystem,
            self.directory,
            LogBorder(list(self._segments), active.size, active.next_offset),
            removed_segments=removed_segments,
            snapshot_offsets=self._snapshot_offsets,
            removes_epochs=self.leader_epochs.file_is_wrong,
        )

    def _restart_from(self, job: RewindJob) -> None:
        if job.producers is None:
            raise InvariantError(f"{self} goes on after a rewind that never ran")
        job.close_removed()
        self.producers = self._writer.producers = job.producers
        self._snapshot_offsets = job.snapshot_offsets
        if job.removes_epochs:
            self.leader_epochs.file_was_removed()
        self._checkpoint_is_due = True

    def _capture_checkpoint(self, *, is_final: bool) -> CheckpointJob:
        job = CheckpointJob(self._filesystem, self.directory, is_final=is_final)
        captured = [(segment, segment.capture_indexes(is_final=is_final)) for segment in self._segments]
        job.index_writes = [(segment, writes) for segment, writes in captured if writes]
        if self.leader_epochs.is_dirty:
            job.epochs = self.leader_epochs.capture()
        return job
