"""Where a segment's good part ends, found by header, and how indexing goes on from there."""

from contextlib import suppress
from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.model.ids import NO_EPOCH
from penstock.storage.batch_scan import Located
from penstock.storage.segment import Segment
from penstock.storage.segment_lookup import header_at, noted_before, trust_largest_timestamp


class SegmentEnd(NamedTuple):
    """A border between batches of one segment."""

    position: int
    next_offset: int
    """What the batch behind the border begins with."""
    last: Located | None
    """The batch before the border; None at the segment's beginning."""

    @property
    def latest_epoch(self) -> int:
        """The leader epoch of the batch before the border."""
        return NO_EPOCH if self.last is None else self.last.header.leader_epoch


def find_end(segment: Segment, offset: int) -> SegmentEnd:
    """The border before the batch that contains ``offset``, before the first bad header, or the end."""
    position, next_offset, last = 0, segment.base_offset, None
    try:
        # One that ends before the offset, so that the batch before the border is always seen.
        known = noted_before(segment, offset - 1)
        if known is not None:
            position, next_offset = known.position, known.header.base_offset
        for located in segment.walk(position, next_offset):
            if located.header.last_offset >= offset:
                break
            position, next_offset, last = located.end, located.header.next_offset, located
    except CorruptLogError:
        # Judging the bytes behind the border is for whoever checks them.
        return SegmentEnd(position, next_offset, last)
    return SegmentEnd(position, next_offset, last)


def resume_segment(segment: Segment, end: SegmentEnd) -> None:
    """Let a segment whose files are known to be whole end at ``end``, ready for the next batch."""
    segment.cut(end.position, end.next_offset)
    with suppress(CorruptLogError):
        trust_largest_timestamp(segment)
    _recall_first_timestamp(segment)


def rebuild_segment(segment: Segment, end: SegmentEnd) -> None:
    """Let a segment end at ``end``, with new indexes: after a power loss theirs may lack any part."""
    segment.cut(end.position, end.next_offset)
    with suppress(CorruptLogError):
        segment.rebuild_indexes()
    _recall_first_timestamp(segment)


def _recall_first_timestamp(segment: Segment) -> None:
    """Damage, here and above, is below the recovery point; whoever reads that part is told."""
    if segment.size > 0:
        with suppress(CorruptLogError):
            segment.first_timestamp = header_at(segment, 0).max_timestamp
