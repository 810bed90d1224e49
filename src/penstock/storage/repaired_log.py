"""The repair of a log that was found damaged at its start, or when it was first read after that.

Such a log is *offline*: what is before the damage can be read, nothing is written, and the files stay as they
are until somebody decides. For a replica the decision is easy: its leader has everything. So the log is cut
before the damage, and takes appends again. Never for the only copy.
"""

from collections.abc import Callable

from penstock.model.errors import InvariantError
from penstock.storage.leftovers import DirectoryListing
from penstock.storage.repair_job import RepairJob
from penstock.storage.restart_job import RestartJob
from penstock.storage.rewind_job import RewindJob
from penstock.storage.segment import Segment
from penstock.storage.segment_end import find_end
from penstock.storage.truncated_log import TruncatedLog
from penstock.storage.verification import find_damage


class RepairedLog(TruncatedLog):
    """A log that can be made sound again."""

    def look_for_damage(self, offset: int) -> None:
        """Check all that can be read from the batch with ``offset`` on; a bad one takes the log offline.

        It may be so already: what is before the damage that was found first has not all been checked. Only
        while nobody writes to the log. Blocks.
        """
        known = self.recovery_report.damage
        found = (find_damage(segment, offset) for segment in self._segments.from_offset(offset))
        damage = next((each for each in found if each is not None), None)
        if damage is not None and (known is None or damage.offset < known.offset):
            self._take_offline(damage)
            self.recovery_report.report_is_missing = True

    @property
    def repair_offset(self) -> int:
        """Where a damaged log ends once it is repaired; of a sound one, its end. May read files."""
        damage = self.recovery_report.damage
        if damage is None:
            return self.log_end_offset
        return max(self.border_before(damage.offset), self.log_start_offset)

    def begin_repair(self, lower: Callable[[], None] | None = None) -> RepairJob | None:
        """Cut a damaged log before the damage, in memory; None if it is sound.

        ``lower`` is run once the evidence is safe and before the files are cut: ``LowerJob.run`` of a
        ``LogDirectory.begin_lower`` at ``repair_offset``. It may be left out if it has been run.
        """
        damage = self.recovery_report.damage
        if damage is None:
            return None
        if self._cut is not None:
            raise InvariantError(f"{self} is being repaired already")
        self.lower_high_watermark(self.repair_offset)
        self._cut = job = RepairJob(
            self._filesystem,
            self.directory,
            damage,
            self._cut_before(damage.offset),
            lower=lower,
            reports_damage=self.recovery_report.report_is_missing,
        )
        return job

    def finish_repair(self, job: RepairJob) -> None:
        """The log is sound, now and at the next start; what it lost must be fetched from its leader."""
        self._check_cut(job)
        self._enter_cut(job.cut)
        self.recovery_report.damage = None
        self.recovery_report.report_is_missing = False
        self._refusal = None

    def repair(self) -> None:
        """All of it now, after the data directory has lowered what it remembers. Blocks."""
        job = self.begin_repair()
        if job is not None:
            job.run()
            self.finish_repair(job)

    def _cut_before(self, offset: int) -> RewindJob | RestartJob:
        """Cut memory; where nothing would be left up to the log's start, it begins anew there."""
        border = self.border_before(offset)
        if border < self.log_start_offset:
            return self._begin_anew(self.log_start_offset, preallocated_bytes=0)
        behind = self._segments.from_offset(border)
        self._cut_memory(behind, find_end(behind[0], border))
        return self._rewind_job(self._files_behind(behind))

    def _files_behind(self, behind: list[Segment]) -> list[Segment]:
        """All segments behind the first of these that have files, known or not: a start stops at damage."""
        known = {segment.base_offset: segment for segment in behind}
        listing = DirectoryListing(self._filesystem.list_directory(self.directory))
        return [
            known.get(base_offset) or self._unknown_segment(base_offset)
            for base_offset in listing.base_offsets
            if base_offset > behind[0].base_offset
        ]

    def _unknown_segment(self, base_offset: int) -> Segment:
        return Segment(
            self._filesystem,
            self.directory,
            base_offset,
            index_interval_bytes=self.config.index_interval_bytes,
            is_new=False,
        )
