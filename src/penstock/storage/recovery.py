"""Opening a partition's directory: from files that some process left to a log that can go on.

After a clean stop the sizes and the last batch are looked at, nothing more. After anything else every batch
above the recovery point is checked, and its bytes are written again and flushed before anybody may rely on
them: what was just read may live only in the page cache (disk rules 28 to 35).

Where the batches stop being good, ``torn_tail`` judges. A torn tail is cut off. Damage is not touched: the
log is opened *offline*, its good part below the damage can be read, nothing can be appended, and a report
lies beside the segment (``<base offset>.corrupt``) until an operator decides. This node may hold the only
copy, and a log with a silent hole is worse than one that says what it lost.

Segments below the recovery point are only measured; their batches are checked when they are first read.

With ``flush.messages`` above 1 a log's start may lie above all that was durable: what was never flushed can
be read and deleted. If a power loss then leaves less than the start, nothing that anybody may read is left,
and the log begins anew at its start.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from penstock.model.errors import CorruptLogError, DiskFullError
from penstock.storage.batch_scan import GAPS_ANYWHERE, BadBatch, BatchChecker, CheckedRun
from penstock.storage.compacted_offset import NO_GAPS_AT_ALL, Gaps, read_gaps
from penstock.storage.damage_report import CORRUPT_SUFFIX, Damage, read_damage_reports, write_damage_report
from penstock.storage.derived_state import (
    LogBorder,
    load_leader_epochs,
    load_producers,
    read_aborted,
    remove_leader_epochs,
)
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.flush_job import create_segment_file
from penstock.storage.leader_epochs import LeaderEpochs
from penstock.storage.leftovers import tidy_directory
from penstock.storage.log_config import LogConfig
from penstock.storage.producer_snapshot import snapshot_path
from penstock.storage.producer_state import ProducerStates
from penstock.storage.recovery_hints import RecoveryHints
from penstock.storage.replay import replay_producer
from penstock.storage.restart_job import RestartJob
from penstock.storage.segment import Segment, file_name
from penstock.storage.segment_end import SegmentEnd, find_end, rebuild_segment, resume_segment
from penstock.storage.torn_tail import TailVerdict, judge_tail


@dataclass(slots=True, kw_only=True)
class RecoveryReport:
    """What opening found and did, for the operator."""

    was_clean: bool
    scanned_bytes: int = 0
    truncated_bytes: int = 0
    damage: Damage | None = None
    report_is_missing: bool = False
    """Whether the disk was too full for the file that describes the damage."""


@dataclass(slots=True, kw_only=True)
class OpenedLog:
    """A log's state as its files have it."""

    segments: list[Segment]
    leader_epochs: LeaderEpochs
    producers: ProducerStates
    snapshot_offsets: set[int]
    log_start_offset: int
    end_offset: int
    recovery_point: int
    gaps: Gaps
    report: RecoveryReport


def open_files(filesystem: FileSystem, directory: str, config: LogConfig, hints: RecoveryHints) -> OpenedLog:
    """Read, check and if need be repair the files of one log."""
    return _Opening(filesystem, directory, config, hints).run()


class _Opening:
    """One opening, step by step."""

    def __init__(
        self, filesystem: FileSystem, directory: str, config: LogConfig, hints: RecoveryHints
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._config = config
        self._hints = hints
        self._report = RecoveryReport(was_clean=hints.clean)
        self._damages_before: list[Damage] = []
        self._gaps = NO_GAPS_AT_ALL
        self._segments: list[Segment] = []
        self._epochs = LeaderEpochs()
        self._producers = ProducerStates()
        self._snapshot_offsets: set[int] = set()

    def run(self) -> OpenedLog:
        listing = tidy_directory(self._filesystem, self._directory)
        self._damages_before = read_damage_reports(self._filesystem, self._directory)
        snapshot_offsets = self._snapshot_offsets = set(listing.snapshot_offsets)
        self._segments = [self._existing(base_offset) for base_offset in listing.base_offsets]
        if not self._segments:
            self._segments = [self._first_segment()]
        self._find_gaps()
        number, end = self._find_start()
        border = LogBorder(self._segments[: number + 1], end.position, end.next_offset, end.last)
        self._connect(number)
        self._epochs = load_leader_epochs(self._filesystem, self._directory, border, self._log_start_offset)
        self._producers = load_producers(self._filesystem, self._directory, snapshot_offsets, border)
        last_is_good = not self._hints.clean or self._last_batch_is_good(self._segments[number], end)
        if self._is_as_left(number, end) and last_is_good:
            resume_segment(self._segments[-1], end)
        else:
            self._report.was_clean = False
            self._recover(number, end if last_is_good else _step_back(end))
        self._report.damage = self._first_damage()
        self._drop_snapshots(snapshot_offsets)
        return self._opened(snapshot_offsets)

    @property
    def _log_start_offset(self) -> int:
        return max(self._hints.log_start_offset, self._segments[0].base_offset)

    @property
    def _preallocated_bytes(self) -> int:
        return self._config.segment_bytes if self._config.preallocate else 0

    def _find_gaps(self) -> None:
        """See where offsets may be missing; in a log without batches, nowhere yet."""
        is_empty = len(self._segments) == 1 and self._segments[0].size == 0
        self._gaps = read_gaps(
            self._filesystem, self._directory, is_compacted=self._config.is_compacted and not is_empty
        )
        for segment in self._segments:
            segment.gaps_below = GAPS_ANYWHERE if self._config.is_compacted else self._gaps.below

    def _existing(self, base_offset: int) -> Segment:
        segment = self._segment(base_offset, is_new=False)
        segment.size = segment.readable_size = self._filesystem.size(segment.path())
        return segment

    def _first_segment(self) -> Segment:
        segment = self._segment(self._hints.log_start_offset, is_new=True)
        segment.adopt(create_segment_file(self._filesystem, segment.path(), self._preallocated_bytes))
        self._filesystem.sync_directory(self._directory)
        return segment

    def _segment(self, base_offset: int, *, is_new: bool) -> Segment:
        return Segment(
            self._filesystem,
            self._directory,
            base_offset,
            index_interval_bytes=self._config.index_interval_bytes,
            is_new=is_new,
        )

    def _find_start(self) -> tuple[int, SegmentEnd]:
        """The border at the recovery point, or as near below it as there is one."""
        recovery_point = self._hints.recovery_point
        number = max(
            (
                number
                for number, segment in enumerate(self._segments)
                if segment.base_offset <= recovery_point
            ),
            default=0,
        )
        return number, find_end(self._segments[number], recovery_point)

    def _connect(self, number: int) -> None:
        """Closed segments end where the next one begins, as far as anybody knows without reading them."""
        for segment, following in zip(self._segments[:number], self._segments[1:], strict=False):
            segment.next_offset = segment.readable_offset = following.base_offset

    def _is_as_left(self, number: int, end: SegmentEnd) -> bool:
        """Whether the last process stopped in order, and the log ends where it said."""
        is_last = number == len(self._segments) - 1
        is_end = is_last and end.position == self._segments[-1].readable_size
        return self._hints.clean and is_end and end.next_offset == self._hints.recovery_point

    def _last_batch_is_good(self, segment: Segment, end: SegmentEnd) -> bool:
        if end.last is None:
            return True
        header = end.last.header
        checker = BatchChecker(
            segment.file,
            end.last.position,
            end.position,
            expected_offset=header.base_offset,
            latest_epoch=header.leader_epoch,
        )
        return all(run.batches for run in checker.runs()) and checker.bad is None

    def _recover(self, number: int, end: SegmentEnd) -> None:
        # Names, like bytes, may so far be known to the page cache alone.
        self._filesystem.sync_directory(self._directory)
        self._check_joints(number)
        for at in range(number, len(self._segments)):
            if self._report.damage is not None:
                break
            segment = self._segments[at]
            if at > number:
                if self._has_hole(end.next_offset, segment):
                    self._found_hole(self._segments[at - 1], end, segment)
                    break
                end = SegmentEnd(0, segment.base_offset, end.last)
            end = self._recover_segment(segment, end, has_successor=at + 1 < len(self._segments))
        durable_offset = self._hints.durable_offset(self._config)
        if self._report.damage is None and end.next_offset < durable_offset:
            reason = f"the log ends at {end.next_offset}, but was durable up to {durable_offset}"
            self._found_damage(self._segments[-1], BadBatch(end.position, end.next_offset, reason))
        if self._report.damage is not None:
            self._write_damage_report(self._report.damage)
            return
        if end.next_offset < self._hints.log_start_offset and not self._damages_before:
            self._begin_anew()
            return
        # So may the length: what a dead process cut off could come back.
        active = self._segments[-1]
        active.file.truncate(active.size)
        active.file.flush()
        if self._epochs.file_is_wrong:
            remove_leader_epochs(self._filesystem, self._directory)
            self._filesystem.sync_directory(self._directory)
            self._epochs.file_was_removed()

    def _begin_anew(self) -> None:
        """All that is left had been deleted: let the log be empty, at its start."""
        first = self._segment(self._hints.log_start_offset, is_new=True)
        job = RestartJob(self._filesystem, first, self._segments, preallocated_bytes=self._preallocated_bytes)
        job.run()
        job.enter()
        self._segments = [first]
        self._find_gaps()
        self._epochs = LeaderEpochs()
        self._producers = ProducerStates()
        self._snapshot_offsets.clear()

    def _check_joints(self, number: int) -> None:
        """See that no segment is missing between older ones; inside them, nobody looks yet."""
        for segment, following in zip(self._segments[:number], self._segments[1:], strict=False):
            end = find_end(segment, following.base_offset)
            if end.position == segment.readable_size and self._has_hole(end.next_offset, following):
                self._found_hole(segment, end, following)
                return

    def _has_hole(self, next_offset: int, following: Segment) -> bool:
        """Segments join without a gap, compacted ones too: their last batch stays, if need be empty."""
        return next_offset < following.base_offset and following.base_offset > self._gaps.joints_below

    def _recover_segment(self, segment: Segment, start: SegmentEnd, *, has_successor: bool) -> SegmentEnd:
        """Check a segment from the border ``start`` on; what is good is written again.

        It is flushed before its successor is looked at, and the last one when all is known.
        """
        size = segment.readable_size
        rebuild_segment(segment, start)
        if start.position > 0:
            self._find_aborted_again(segment)
        checker = BatchChecker(
            segment.file,
            start.position,
            size,
            expected_offset=start.next_offset,
            latest_epoch=start.latest_epoch,
        )
        checker.gaps_below = segment.gaps_below
        last = start.last
        for run in checker.runs():
            segment.file.write(run.position, [run.data])
            self._take_in(segment, run)
            last = run.batches[-1]
        self._report.scanned_bytes += checker.position - start.position
        if checker.bad is not None:
            self._settle_tail(segment, checker.bad, size, has_successor=has_successor)
        if has_successor:
            segment.file.flush()
        return SegmentEnd(checker.position, checker.expected_offset, last)

    def _find_aborted_again(self, segment: Segment) -> None:
        """Below the recovery point too: their index is written when a segment is finished, not before."""
        segments = self._segments[: self._segments.index(segment) + 1]
        with suppress(CorruptLogError):  # Whoever reads that part is told.
            segment.transaction_index.replace(
                read_aborted(self._filesystem, self._directory, self._snapshot_offsets, segments)
            )

    def _take_in(self, segment: Segment, run: CheckedRun) -> None:
        """Let checked batches have their effect on indexes, epochs and producers."""
        for position, header in run.batches:
            size = header.size_bytes
            start = position - run.position
            aborted = replay_producer(self._producers, header, partial(_part, run.data, start, size))
            if aborted is not None:
                segment.transaction_index.add(aborted)
            self._epochs.assign(header.leader_epoch, header.base_offset)
            segment.take(header, position, size)
        segment.publish_all()

    def _settle_tail(self, segment: Segment, bad: BadBatch, size: int, *, has_successor: bool) -> None:
        verdict = judge_tail(
            segment.file,
            bad,
            size=size,
            durable_offset=self._hints.durable_offset(self._config),
            has_successor=has_successor,
        )
        if verdict is TailVerdict.DAMAGED or (verdict is TailVerdict.TORN and self._damages_before):
            # What was reported is evidence, whatever it looks like now.
            self._found_damage(segment, bad)
            return
        if verdict is TailVerdict.TORN:
            self._report.truncated_bytes += size - bad.position

    def _found_hole(self, segment: Segment, end: SegmentEnd, following: Segment) -> None:
        reason = f"offsets {end.next_offset} to {following.base_offset - 1} are missing"
        self._found_damage(segment, BadBatch(end.position, end.next_offset, reason))

    def _found_damage(self, segment: Segment, bad: BadBatch) -> None:
        """The log ends here for everybody who asks; its files stay as they are."""
        self._report.damage = Damage(
            path=segment.path(), position=bad.position, offset=bad.expected_offset, reason=bad.reason
        )
        del self._segments[self._segments.index(segment) + 1 :]
        rebuild_segment(segment, SegmentEnd(bad.position, bad.expected_offset, None))

    def _write_damage_report(self, damage: Damage) -> None:
        facts = {"recovery_point": self._hints.recovery_point, "sealed_offset": self._hints.sealed_offset}
        path = join_path(self._directory, file_name(self._segments[-1].base_offset, CORRUPT_SUFFIX))
        try:
            write_damage_report(self._filesystem, path, damage, facts)
        except DiskFullError:
            # The report is for people; the log says the same to whoever asks it.
            self._report.report_is_missing = True

    def _first_damage(self) -> Damage | None:
        """The first of what this start found and earlier ones reported, until somebody decides.

        That this start has not met the damage proves nothing: it may lie below the recovery point by now.
        """
        found = [] if self._report.damage is None else [self._report.damage]
        return min(found + self._damages_before, key=lambda damage: damage.offset, default=None)

    def _drop_snapshots(self, offsets: set[int]) -> None:
        """Remove snapshots of what is no longer there, and old ones that belong to no segment."""
        if self._report.damage is not None:
            return
        end_offset = self._segments[-1].next_offset
        bases = {segment.base_offset for segment in self._segments}
        newest = max((offset for offset in offsets if offset <= end_offset), default=-1)
        going = sorted(offsets - bases - {newest})
        for offset in going:
            self._filesystem.unlink(snapshot_path(self._directory, offset))
            offsets.discard(offset)
        if going:
            # One that came back after a power loss could describe what is not in the log.
            self._filesystem.sync_directory(self._directory)

    def _opened(self, snapshot_offsets: set[int]) -> OpenedLog:
        is_whole = self._report.damage is None
        end_offset = self._segments[-1].next_offset
        self._epochs.truncate_start(self._log_start_offset)
        for segment in self._segments[:-1]:
            segment.close()
        return OpenedLog(
            segments=self._segments,
            leader_epochs=self._epochs,
            producers=self._producers,
            snapshot_offsets=snapshot_offsets,
            log_start_offset=min(self._log_start_offset, end_offset),
            end_offset=end_offset,
            # A damaged log must be found damaged again, so what it was known to hold is not forgotten.
            recovery_point=end_offset if is_whole else self._hints.recovery_point,
            gaps=self._gaps,
            report=self._report,
        )


def _step_back(end: SegmentEnd) -> SegmentEnd:
    """The border before the batch that ``end`` is behind."""
    if end.last is None:
        return end
    return SegmentEnd(end.last.position, end.last.header.base_offset, None)


def _part(data: memoryview, start: int, size: int) -> memoryview:
    return data[start : start + size]
