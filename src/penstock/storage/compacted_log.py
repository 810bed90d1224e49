"""The compaction of a log, as its owner drives it: a pass, group by group, each group swapped in on the loop.

The pass itself runs on any thread, in slices. Meanwhile the log takes appends and serves readers as always;
retention waits, and so does truncation. At most one pass is under way at a time.
"""

from collections.abc import Iterator

from penstock.model.errors import InvariantError
from penstock.storage import offset_index, time_index
from penstock.storage.cleanable_part import CleanablePart, CompactionRules, cleanable_part
from penstock.storage.cleaned_segment import CleanedSegment
from penstock.storage.compacted_offset import UNKNOWN_GAPS, Gaps, GapsWidening
from penstock.storage.compaction import Compaction, CompactionOrder, NewestBatch
from penstock.storage.log_config import FOREVER_MS
from penstock.storage.maintained_log import MaintainedLog
from penstock.storage.producer_state import Producer
from penstock.storage.segment import Segment
from penstock.storage.segment_groups import SegmentSize, group_segments
from penstock.storage.segment_lookup import header_at
from penstock.storage.segment_swap import SegmentSwap
from penstock.storage.sparse_index import DamagedIndexError

POSITION_MAX = 2**31 - 1
"""Of a batch in a segment's file, as an index entry can hold it."""


class CompactedLog(MaintainedLog):
    """A log that can be compacted."""

    #: Everything below has been through a pass; may lag behind the truth, never ahead of it.
    cleaned_offset = 0

    @property
    def is_being_compacted(self) -> bool:
        """Whether a pass is under way."""
        return self._compaction is not None

    @property
    def needs_swap(self) -> bool:
        """Whether files of a finished group still have to be given their final names."""
        return self._swap is not None

    def cleanable_part(self, now: int, stable_offset: int) -> CleanablePart:
        """What a pass would work on. May read files.

        ``stable_offset`` is the owner's last stable offset: nothing at or behind it is touched.
        """
        return cleanable_part(
            self.describe_segments(),
            self._rules,
            first_timestamps=self._first_timestamps(),
            cleaned_offset=max(self.cleaned_offset, self.log_start_offset),
            stable_offset=min(stable_offset, self.recovery_point, self._newest_on_disk),
            now=now,
        )

    def is_due_for_compaction(self, part: CleanablePart) -> bool:
        """Whether that part is worth a pass now."""
        is_free = self._compaction is None and self._swap is None and self._cut is None
        return is_free and self._refusal is None and self.config.is_compacted and part.is_due(self._rules)

    def begin_compaction(self, part: CleanablePart, *, now: int, map_bytes: int) -> Compaction:
        """Begin a pass over ``part``; it ends with ``finish_compaction`` or ``abandon_compaction``."""
        if self._compaction is not None:
            raise InvariantError(f"{self} is being compacted already")
        if self._cut is not None:
            raise InvariantError(f"{self} is to be compacted while it is being cut")
        order = CompactionOrder(
            directory=self.directory,
            segments=[segment for segment in self._segments if segment.base_offset < part.end_offset],
            first_dirty_offset=part.first_dirty_offset,
            now=now,
            delete_retention_ms=self.config.delete_retention_ms,
            map_bytes=map_bytes,
            index_interval_bytes=self.config.index_interval_bytes,
            aborted=self.aborted_transactions(self._segments.first.base_offset, part.end_offset),
            newest_batches={
                producer.producer_id: self._newest_batch(producer) for producer in self.producers
            },
        )
        self._compaction = Compaction(self._filesystem, order)
        return self._compaction

    def group_segments(self, compaction: Compaction) -> list[list[Segment]]:
        """The groups of a pass whose keys are mapped, oldest first."""
        segments = [
            segment for segment in compaction.order.segments if segment.base_offset < compaction.end_offset
        ]
        sizes = [_size(segment) for segment in segments]
        ranges = group_segments(
            sizes,
            segment_bytes=min(self.config.segment_bytes, POSITION_MAX - self.config.max_message_bytes),
            index_bytes=self.config.segment_index_bytes,
        )
        return [[segments[number] for number in numbers] for numbers in ranges]

    def begin_group(self, compaction: Compaction, group: list[Segment]) -> CleanedSegment:
        """Make the files that ``compaction.clean`` fills. Blocks, briefly."""
        cleaned = CleanedSegment(
            self._filesystem,
            self.directory,
            group[0].base_offset,
            end_offset=group[-1].next_offset,
            index_interval_bytes=compaction.order.index_interval_bytes,
        )
        cleaned.segment.untimed_until = max(map(self._untimed_until, group))
        return cleaned

    def begin_swap(self, group: list[Segment], cleaned: CleanedSegment) -> SegmentSwap | None:
        """Prepare to put a finished group in place; None when that must wait for another job.

        Then ``swap.commit``, ``enter_swap``, ``swap.complete`` and ``finish_swap``, in this order.
        """
        if self._refusal is not None or self._is_occupied:
            return None
        self._swap = SegmentSwap(
            self._filesystem,
            self.directory,
            cleaned,
            group,
            gaps=self._wider_gaps(group[-1].next_offset),
            delay_ms=self.config.file_delete_delay_ms,
        )
        return self._swap

    def abandon_swap(self, swap: SegmentSwap) -> None:
        """The commit failed: the log stays as it was."""
        self._check_swap(swap)
        self._swap = None

    def enter_swap(self, swap: SegmentSwap) -> None:
        """The swap is decided on disk: from now on readers get the new segment."""
        self._check_swap(swap)
        self._segments.replace(swap.old_segments, swap.cleaned.segment)
        self._snapshot_offsets.difference_update(segment.base_offset for segment in swap.old_segments)
        self._reader.forget()
        # Memory may still have what the files have no more, and readers are to see one of the two.
        self._tail.clear()

    def finish_swap(self, swap: SegmentSwap) -> None:
        """All files have their final names; the indexes need not be in memory any more."""
        self._check_swap(swap)
        self._swap = None
        swap.cleaned.segment.settle_indexes(swap.cleaned.index_writes)

    def finish_compaction(self, compaction: Compaction) -> None:
        """Every group is in place: the clean part is longer now, and the next checkpoint says so."""
        self.abandon_compaction(compaction)
        self.cleaned_offset = max(self.cleaned_offset, compaction.end_offset)

    def abandon_compaction(self, compaction: Compaction) -> None:
        """The pass ends here; groups that are in place stay so."""
        if self._compaction is not compaction:
            raise InvariantError(f"{self} did not begin this pass, or it has ended already")
        self._compaction = None

    def compact(self, *, now: int, stable_offset: int, map_bytes: int) -> Compaction | None:
        """Do a whole pass now if there is anything dirty, due or not; blocks. For a log without a broker."""
        part = self.cleanable_part(now, stable_offset)
        if part.dirty_bytes == 0 or self._refusal is not None or self._is_occupied:
            return None
        compaction = self.begin_compaction(part, now=now, map_bytes=map_bytes)
        try:
            _exhaust(compaction.map_keys())
            for group in self.group_segments(compaction):
                self._compact_group(compaction, group)
        except BaseException:
            self.abandon_compaction(compaction)
            raise
        self.finish_compaction(compaction)
        return compaction

    def _compact_group(self, compaction: Compaction, group: list[Segment]) -> None:
        cleaned = self.begin_group(compaction, group)
        try:
            _exhaust(compaction.clean(group, cleaned))
        except BaseException:
            cleaned.discard()
            raise
        swap = self.begin_swap(group, cleaned)
        if swap is None:
            raise InvariantError(f"{self} is compacted while another job is under way")
        swap.commit()
        self.enter_swap(swap)
        swap.complete()
        self.finish_swap(swap)
        swap.remove()

    @property
    def _newest_on_disk(self) -> int:
        """Where the newest segment begins that has a file: those before it are written for good."""
        bases = (segment.base_offset for segment in self._segments if segment.is_created)
        return max(bases, default=self._segments.first.base_offset)

    def _newest_batch(self, producer: Producer) -> NewestBatch:
        """The newest batch that no outage can take; only the last few of a producer are known."""
        durable = [
            batch.last_offset for batch in producer.recent_batches if batch.last_offset < self.recovery_point
        ]
        if durable:
            return NewestBatch(durable[-1], producer.epoch)
        return NewestBatch(None, producer.epoch, is_sure=self.recovery_point == self.log_end_offset)

    def _first_timestamps(self) -> dict[int, int]:
        """When the closed dirty segments began, where anybody wants to know."""
        if self.config.max_compaction_lag_ms == FOREVER_MS:
            return {}
        return {
            segment.base_offset: _first_timestamp(segment)
            for segment in self._segments
            if segment.next_offset > self.cleaned_offset and segment.readable_size
        }

    @property
    def _rules(self) -> CompactionRules:
        return CompactionRules(
            min_dirty_ratio=self.config.min_cleanable_dirty_ratio,
            min_lag_ms=self.config.min_compaction_lag_ms,
            max_lag_ms=self.config.max_compaction_lag_ms,
        )

    def _wider_gaps(self, end_offset: int) -> GapsWidening | None:
        """Where the disk must allow gaps before a swap; None when it does already."""
        if self._compaction is not None:
            # Once for all groups of the pass.
            end_offset = max(end_offset, self._compaction.order.segments[-1].next_offset)
        known = self._gaps.known
        if known == UNKNOWN_GAPS:
            return GapsWidening(self._gaps, Gaps(self.flushed_offset, self.flushed_offset))
        if end_offset <= known.below:
            return None
        return GapsWidening(self._gaps, known._replace(below=end_offset))

    def _check_swap(self, swap: SegmentSwap) -> None:
        if self._swap is not swap:
            raise InvariantError(f"{self} did not begin this swap, or it has ended already")


def _exhaust(slices: Iterator[int]) -> None:
    for _ in slices:
        pass


def _first_timestamp(segment: Segment) -> int:
    if segment.first_timestamp is None:
        segment.first_timestamp = header_at(segment, 0).max_timestamp
    return segment.first_timestamp


def _size(segment: Segment) -> SegmentSize:
    return SegmentSize(
        base_offset=segment.base_offset,
        next_offset=segment.next_offset,
        size_bytes=segment.size,
        index_bytes=_index_bytes(segment),
    )


def _index_bytes(segment: Segment) -> int:
    try:
        return max(
            len(segment.offset_index) * offset_index.ENTRY.size,
            len(segment.time_index) * time_index.ENTRY.size,
        )
    except DamagedIndexError:
        # What is missing is made anew when somebody looks something up; it counts as none.
        return 0
