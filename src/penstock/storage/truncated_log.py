"""Cutting a log, or letting it begin anew, as followers do whose log differs from their leader's.

Like everything that blocks it comes in three steps: ``begin_...`` cuts what is in memory at once, so that
nobody reads what is on its way out; the job cuts the files; ``finish_...`` takes note. In between the log is
read as always, but flushes nothing. Batches without producers may be appended meanwhile and are flushed
afterwards: who the producers are is known only when the job has read what is left.

Before each cut the data directory must have lowered, durably, what it remembers of the log
(``LogDirectory.begin_lower``), or the next start takes the cut for damage.
"""

from penstock.model.errors import InvariantError
from penstock.storage.batch_scan import GAPS_ANYWHERE, NO_GAPS
from penstock.storage.compacted_log import CompactedLog
from penstock.storage.compacted_offset import NO_GAPS_AT_ALL, GapsFile
from penstock.storage.producer_state import ProducerStates
from penstock.storage.repair_job import RepairJob
from penstock.storage.restart_job import RestartJob
from penstock.storage.rewind_job import RewindJob
from penstock.storage.segment import Segment
from penstock.storage.segment_end import SegmentEnd, find_end


class TruncatedLog(CompactedLog):
    """A log that can be cut, and begin anew."""

    @property
    def busy_with(self) -> str | None:
        """What must come to its end before the log can be cut; None when it can be cut now."""
        obstacles = (
            ("a flush", self._flush_job),
            ("a compaction", self._compaction),
            ("a swap of segments", self._swap),
            ("a checkpoint", self._checkpoint_job),
            ("another cut", self._cut),
            ("batches that wait for a flush", self._writer.is_dirty or None),
        )
        return next((name for name, obstacle in obstacles if obstacle is not None), None)

    @property
    def is_busy(self) -> bool:
        """Whether something must come to its end before the log can be cut."""
        return self.busy_with is not None

    def lower_high_watermark(self, offset: int) -> None:
        """Give up what was committed from ``offset`` on, so that it can be cut off.

        Only for a replica whose topic allows unclean elections, or one that has lost it anyway.
        """
        self.high_watermark = min(self.high_watermark, offset)

    def begin_truncate(self, offset: int) -> RewindJob | None:
        """Cut everything from the batch that contains ``offset``, in memory; None if that is nothing.

        The caller lowered what the data directory remembers to ``border_before(offset)``. Where the border
        is below the log's start nothing would be left: such a log begins anew there (``begin_restart``).
        """
        self._check_can_be_cut(offset)
        if offset >= self.log_end_offset:
            return None
        behind = self._segments.from_offset(offset)
        end = find_end(behind[0], offset)
        if end.next_offset < self.log_start_offset:
            raise InvariantError(f"{self} must not be cut at {offset}, which would leave nothing of it")
        self._cut_memory(behind, end)
        self._cut = job = self._rewind_job(behind[1:])
        return job

    def finish_truncate(self, job: RewindJob) -> None:
        """The files are cut, durably: what was appended meanwhile may be flushed."""
        self._check_cut(job)
        self._enter_cut(job)

    def give_up_cut(self) -> None:
        """The job of the cut under way, if there is one, has failed and is not run again.

        Nothing is appended or flushed any more, and the log is closed as it is: the next start finds out how
        far the job came, as after a crash.
        """
        if self._cut is not None:
            self.cut_is_given_up = True
            self._refusal = "its cut was given up"

    def truncate(self, offset: int) -> int:
        """Flush, and all of it now; answers the new end. Blocks."""
        self.flush()
        job = self.begin_truncate(offset)
        if job is not None:
            job.run()
            self.finish_truncate(job)
        return self.log_end_offset

    def begin_restart(self, offset: int) -> RestartJob:
        """Drop everything, and begin anew, empty, at ``offset``: in memory at once.

        For a follower whose leader has deleted what comes next, and for a log whose beginning a snapshot
        replaces. Until ``finish_restart`` the disk has the old log or an empty one, whatever happens.
        """
        self._check_can_be_cut(offset)
        preallocated_bytes = self.config.segment_bytes if self.config.preallocate else 0
        self._cut = job = self._begin_anew(offset, preallocated_bytes=preallocated_bytes)
        return job

    def finish_restart(self, job: RestartJob) -> None:
        """The new beginning is on the disk, and nothing else."""
        self._check_cut(job)
        self._enter_cut(job)

    def restart(self, offset: int) -> None:
        """Flush, and all of it now. Blocks."""
        self.flush()
        job = self.begin_restart(offset)
        job.run()
        self.finish_restart(job)

    def _check_can_be_cut(self, offset: int) -> None:
        if offset < self.high_watermark:
            raise InvariantError(f"{self} must not be cut at {offset}, below {self.high_watermark}")
        if self._refusal is not None:
            raise self._refused()
        if self.busy_with is not None:
            raise InvariantError(f"{self} must not be cut now: there is {self.busy_with}")

    def _check_cut(self, job: RewindJob | RestartJob | RepairJob) -> None:
        if self._cut is not job:
            raise InvariantError(f"{self} did not begin this cut, or it has ended already")

    def _cut_memory(self, behind: list[Segment], end: SegmentEnd) -> None:
        """Let the log end at ``end``, in the first of the segments from there on."""
        self._segments.drop_last(len(behind) - 1)
        behind[0].cut(end.position, end.next_offset)
        self._writer.resume()
        self._writer.producers = None
        self._reader.forget()
        self.leader_epochs.truncate_end(end.next_offset)
        self.flushed_offset = end.next_offset
        self.recovery_point = min(self.recovery_point, end.next_offset)
        self.cleaned_offset = min(self.cleaned_offset, end.next_offset)

    def _begin_anew(self, offset: int, *, preallocated_bytes: int) -> RestartJob:
        """Let the log begin and end at ``offset``, in memory."""
        first = Segment(
            self._filesystem,
            self.directory,
            offset,
            index_interval_bytes=self.config.index_interval_bytes,
            is_new=True,
            gaps_below=GAPS_ANYWHERE if self.config.is_compacted else NO_GAPS,
        )
        dropped = self._segments.begin_anew(first)
        self._writer.resume()
        self._reader.forget()
        self.producers = self._writer.producers = ProducerStates()
        self.leader_epochs.truncate_end(0)
        self._snapshot_offsets = set()
        self._gaps = GapsFile(self._filesystem, self.directory, NO_GAPS_AT_ALL)
        self._new_gaps = None
        self.log_start_offset = self.flushed_offset = self.recovery_point = offset
        self.cleaned_offset = min(self.cleaned_offset, offset)
        return RestartJob(self._filesystem, first, dropped, preallocated_bytes=preallocated_bytes)

    def _enter_cut(self, job: RewindJob | RestartJob) -> None:
        """The files are what memory has said since the cut began, and all of them are durable."""
        if isinstance(job, RewindJob):
            self._restart_from(job)
        else:
            job.enter()
            self.leader_epochs.file_was_removed()
            self._checkpoint_is_due = True
        self._cut = None
        self.recovery_point = self.flushed_offset
        self._unflushed_records = 0

    def _producers_unknown(self) -> InvariantError:
        """A producer's batch cannot be judged while nobody knows what is left of the producers."""
        return InvariantError(f"{self} is given a producer's batch while it is being cut")
