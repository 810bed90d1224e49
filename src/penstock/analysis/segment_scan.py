"""Reading a stored segment from its first batch to its last, or to where it stops making sense.

Every checksum is compared. The newest segment of a partition may end in the middle of a batch, because a
broker is writing it or died over it, or in zeros, because room was reserved: that is its end, and no damage,
unless another batch follows.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from penstock.analysis.stored_partition import StoredSegment
from penstock.model.ids import NO_EPOCH
from penstock.records.batch import HEADER_BYTES, BatchHeader, read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.batch_scan import (
    CHECK_CHUNK_BYTES,
    GAPS_ANYWHERE,
    BadBatch,
    BatchChecker,
    CheckedRun,
)
from penstock.storage.filesystem import File, FileSystem

_ZERO_LOOK_BYTES = 64 * 1024


class StoredBatch(NamedTuple):
    """A batch whose checksum is right, inside the buffer that it was read with."""

    header: BatchHeader
    buffer: memoryview
    at: int
    """Where in ``buffer``."""
    position: int
    """Where in the file."""


class UnreadableTail(NamedTuple):
    """Where a segment stops being batches, and why."""

    position: int
    size: int
    """Bytes from there to the end of the file."""
    reason: str
    is_damage: bool
    """False at the end of a newest segment, where a batch may be on its way."""


class SegmentPart(NamedTuple):
    """Some bytes of a segment, from the beginning of a batch to the beginning of another, or to the end."""

    position: int
    end: int
    base_offset: int
    """Of the first batch, or less."""


def whole(segment: StoredSegment) -> SegmentPart:
    """All of it, as large as it was found: what is appended meanwhile is for the next look."""
    return SegmentPart(0, segment.size, segment.base_offset)


class SegmentScan:
    """One pass over a segment, or over a part of it; ``tail`` is known when it is over."""

    __slots__ = ("_filesystem", "_part", "_segment", "tail")

    def __init__(
        self, filesystem: FileSystem, segment: StoredSegment, part: SegmentPart | None = None
    ) -> None:
        self._filesystem = filesystem
        self._segment = segment
        self._part = part or whole(segment)
        self.tail: UnreadableTail | None = None

    def batches(self, *, progress: Callable[[int], None] = lambda done: None) -> Iterator[StoredBatch]:
        """Each good batch; ``progress`` is told how many bytes were read since the last time."""
        done = self._part.position
        for run in self.runs():
            for position, header in run.batches:
                yield StoredBatch(header, run.data, position - run.position, position)
            progress(len(run.data))
            done += len(run.data)
        progress(self._part.end - done)

    def runs(self, *, chunk_bytes: int = CHECK_CHUNK_BYTES) -> Iterator[CheckedRun]:
        """Good batches that stand side by side, about ``chunk_bytes`` at a time."""
        file = self._filesystem.open(self._segment.path())
        try:
            yield from self._runs(file, chunk_bytes)
        finally:
            file.close()

    def _runs(self, file: File, chunk_bytes: int) -> Iterator[CheckedRun]:
        position, end, base_offset = self._part
        checker = BatchChecker(
            file, position, end, expected_offset=base_offset, latest_epoch=NO_EPOCH, chunk_bytes=chunk_bytes
        )
        checker.gaps_below = GAPS_ANYWHERE
        yield from checker.runs()
        if checker.bad is not None and not _is_reserved(file, checker.position, end):
            self.tail = UnreadableTail(
                position=checker.position,
                size=end - checker.position,
                reason=checker.bad.reason,
                is_damage=not self._segment.is_newest or _leads_on(file, checker.bad, end),
            )


def _leads_on(file: File, bad: BadBatch, end: int) -> bool:
    """Whether the length of a bad batch leads to another batch: then it was whole once."""
    try:
        header = read_header(file.read(bad.position, HEADER_BYTES))
        following = bad.position + header.size_bytes
        if following >= end:
            return False
        return read_header(file.read(following, HEADER_BYTES)).base_offset > header.base_offset
    except CorruptBatchError:
        return False


def _is_reserved(file: File, position: int, end: int) -> bool:
    """Whether only zeros follow."""
    while position < end:
        piece = file.read(position, min(_ZERO_LOOK_BYTES, end - position))
        if not piece or piece.count(0) != len(piece):
            return not piece
        position += len(piece)
    return True
