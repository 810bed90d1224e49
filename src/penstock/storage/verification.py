"""Checking old data when it is first read: bytes that rotted on the disk are never served as good ones.

What this process wrote, or has checked since it began, needs no check; everything else is read once in
full, which also brings it into the page cache, where ``sendfile`` finds it. A bad batch is remembered with
its range, so that readers stop before it and asking for it fails; what lies behind it can still be read.
"""

from penstock.model.errors import CorruptLogError, StorageError
from penstock.model.ids import NO_EPOCH
from penstock.records.batch import LOG_OVERHEAD
from penstock.storage.batch_scan import BadBatch, BatchChecker
from penstock.storage.damage_report import Damage
from penstock.storage.log_reader import FilePiece, LogSlice
from penstock.storage.segment import Segment
from penstock.storage.segment_end import find_end
from penstock.storage.segment_lookup import header_at


def needs_verification(found: LogSlice) -> bool:
    """Whether the slice comes from a file, and some of its bytes were never checked."""
    segment = found.segment
    if segment is None:
        return False
    return not all(
        segment.checked.covers(piece.position, piece.position + piece.length)
        for piece in found.pieces
        if isinstance(piece, FilePiece)
    )


def verify(found: LogSlice) -> None:
    """Check every batch that the slice touches; raises ``CorruptLogError`` at a bad one. Blocks."""
    segment = found.segment
    if segment is None:
        return
    for piece in found.pieces:
        if isinstance(piece, FilePiece):
            _verify_range(segment, piece)


def find_damage(segment: Segment, offset: int) -> Damage | None:
    """The first bad batch of a segment, looking from the one that contains ``offset`` on. Blocks."""
    border = find_end(segment, offset)
    checker = BatchChecker(
        segment.file,
        border.position,
        segment.readable_size,
        expected_offset=border.next_offset,
        latest_epoch=border.latest_epoch,
    )
    checker.gaps_below = segment.gaps_below
    bad = _first_bad(checker, segment.readable_size)
    if bad is None:
        return None
    return Damage(path=segment.path(), position=bad.position, offset=bad.expected_offset, reason=bad.reason)


def _verify_range(segment: Segment, piece: FilePiece) -> None:
    start, end = piece.position, piece.position + piece.length
    checker = BatchChecker(
        piece.file,
        start,
        segment.readable_size,
        expected_offset=header_at(segment, start).base_offset,
        latest_epoch=NO_EPOCH,
    )
    checker.gaps_below = segment.gaps_below
    bad = _first_bad(checker, end)
    segment.checked.add(start, checker.position)
    if bad is not None and checker.position < end:
        raise _quarantine(segment, bad)


def _first_bad(checker: BatchChecker, end: int) -> BadBatch | None:
    """Check batches up to the position ``end`` at least, or to the first bad one."""
    try:
        for _ in checker.runs():
            if checker.position >= end:
                break
    except StorageError as error:
        # The disk cannot read it (disk rule 37): as bad as a wrong byte, but no reason to stop.
        return BadBatch(checker.position, checker.expected_offset, str(error))
    return checker.bad


def _quarantine(segment: Segment, bad: BadBatch) -> CorruptLogError:
    segment.damaged.add(bad.position, _end_of_damage(segment, bad))
    return CorruptLogError(
        f"{segment.path()} is damaged at position {bad.position}, offset {bad.expected_offset}: {bad.reason}"
    )


def _end_of_damage(segment: Segment, bad: BadBatch) -> int:
    """Behind the bad batch if its length leads to another batch, else the segment's end."""
    end = segment.readable_size
    try:
        following = bad.position + LOG_OVERHEAD + header_at(segment, bad.position).batch_length
        if following < end and header_at(segment, following).base_offset > bad.expected_offset:
            return following
    except StorageError:
        return end
    return end
