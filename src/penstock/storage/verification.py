"""Checking old data when it is first read: bytes that rotted on the disk are never served as good ones.

What this process wrote, or has checked since it began, needs no check; everything else is read once in
full, which also brings it into the page cache, where ``sendfile`` finds it. A bad batch is remembered with
its range, so that readers stop before it and asking for it fails; what lies behind it can still be read.
"""

from penstock.model.errors import CorruptLogError, StorageError
from penstock.model.ids import NO_EPOCH
from penstock.records.batch import LOG_OVERHEAD
from penstock.storage.batch_scan import BadBatch, BatchChecker
from penstock.storage.log_reader import FilePiece, LogSlice
from penstock.storage.segment import Segment
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
    try:
        for _ in checker.runs():
            if checker.position >= end:
                break
    except StorageError as error:
        # The disk cannot read it (disk rule 37): as bad as a wrong byte, but no reason to stop.
        checker.bad = BadBatch(checker.position, checker.expected_offset, str(error))
    segment.checked.add(start, checker.position)
    if checker.bad is not None and checker.position < end:
        raise _quarantine(segment, checker.bad)


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
