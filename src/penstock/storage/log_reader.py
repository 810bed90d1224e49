"""Reading a log: from an offset to pieces of memory or of a file that can go straight to a socket.

What was appended lately is served from the tail cache, everything older as a range of a segment file for
``sendfile``. A slice from a file ends, where the index knows one, at a batch's border, and that border is
remembered: the next fetch of a consumer that reads on costs one look-up in a dictionary.
"""

from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.records.batch import read_header
from penstock.storage.batch_scan import Located
from penstock.storage.filesystem import BytesLike, File
from penstock.storage.segment import Segment
from penstock.storage.segment_lookup import border_before, border_position, header_at, locate
from penstock.storage.segments import Segments
from penstock.storage.tail_cache import LogTail

RECENT_BORDERS_MAX = 64


class MemoryPiece(NamedTuple):
    """A batch in memory."""

    buffer: BytesLike


class FilePiece(NamedTuple):
    """A range of an open segment file."""

    file: File
    position: int
    length: int


class LogSlice(NamedTuple):
    """Batches back to back, beginning with the one that contains the offset asked for.

    The last one may be cut off; clients drop what is incomplete.
    """

    size: int
    pieces: list[MemoryPiece | FilePiece]
    segment: Segment | None = None
    """Where the file pieces come from."""

    known_end_offset: int | None = None
    """An offset behind everything in the file pieces, as near as it is known without reading them."""

    has_more: bool = False
    """Whether there is more below the end that was asked for: it did not fit, or is in the next segment."""

    @property
    def end_offset(self) -> int:
        """An offset behind everything in the slice, which must not be empty; exact for what is in memory."""
        if self.known_end_offset is not None:
            return self.known_end_offset
        (last,) = self.pieces[-1:]
        assert isinstance(last, MemoryPiece)
        return read_header(last.buffer).next_offset

    def read_bytes(self) -> bytes:
        """All of it in one piece; for tools and tests, since it copies."""
        return b"".join(
            piece.buffer if isinstance(piece, MemoryPiece) else piece.file.read(piece.position, piece.length)
            for piece in self.pieces
        )


EMPTY_SLICE = LogSlice(0, [])
NO_ROOM = LogSlice(0, [], has_more=True)


class LogReader:
    """Finds what to send; reads nothing but index entries and batch headers."""

    __slots__ = ("_borders", "_segments", "_tail")

    def __init__(self, segments: Segments, tail: LogTail) -> None:
        self._segments = segments
        self._tail = tail
        # Offsets at which a batch begins, with segment and position; oldest first.
        self._borders: dict[int, tuple[Segment, int]] = {}

    def forget(self) -> None:
        """The log was cut or lost segments: positions may not be what they were."""
        self._borders.clear()

    def read(self, offset: int, end_offset: int, max_bytes: int, *, minimum_one_batch: bool) -> LogSlice:
        """Batches from the one that contains ``offset`` to ``end_offset``, ``max_bytes`` at most.

        With ``minimum_one_batch`` the first batch comes whole, however large.
        """
        if offset >= end_offset:
            return EMPTY_SLICE
        cached = self._tail.read(offset, end_offset, max_bytes)
        if cached is None:
            return self._read_file(offset, end_offset, max_bytes, minimum_one_batch)
        buffers, size, has_more = cached
        if size > max_bytes and not minimum_one_batch:
            return NO_ROOM
        return LogSlice(size, [MemoryPiece(buffer) for buffer in buffers], has_more=has_more)

    def _read_file(self, offset: int, end_offset: int, max_bytes: int, minimum_one_batch: bool) -> LogSlice:
        found = self._find(offset)
        if found is None:
            return EMPTY_SLICE
        segment, first = found
        if first.header[0] >= end_offset:
            return EMPTY_SLICE
        limit = self._limit(segment, first.position, end_offset)
        has_more = end_offset > segment.readable_offset
        end_offset = min(end_offset, segment.readable_offset)
        length = limit - first.position
        if length > max_bytes:
            length, end_offset = self._cut(segment, first, max_bytes, end_offset)
            if length > max_bytes and not minimum_one_batch:
                return NO_ROOM
            has_more = has_more or length < limit - first.position
        elif segment.readable_size == limit:
            self._remember(segment.readable_offset, segment, limit)
        piece = FilePiece(segment.file, first.position, length)
        return LogSlice(length, [piece], segment, end_offset, has_more)

    def _find(self, offset: int) -> tuple[Segment, Located] | None:
        known = self._borders.get(offset)
        if known is not None:
            segment, position = known
            if position < segment.readable_size:
                return segment, _batch_at(segment, position, offset)
        for segment in self._segments.from_offset(offset):
            located = locate(segment, offset)
            if located is not None:
                return segment, located
        return None

    def _limit(self, segment: Segment, position: int, end_offset: int) -> int:
        """Where to stop: the border asked for, or the first byte that is known to be bad."""
        limit = border_position(segment, end_offset)
        damaged = segment.damaged.first_from(position)
        if damaged is None:
            return limit
        if damaged.start <= position:
            raise CorruptLogError(f"{segment.path()} is damaged at position {position} and cannot be served")
        return min(limit, damaged.start)

    def _cut(self, segment: Segment, first: Located, max_bytes: int, end_offset: int) -> tuple[int, int]:
        """How much to send when not all fits: to a known border, else to the last byte allowed.

        And an offset behind that, ``end_offset`` if none is known.
        """
        if first.end - first.position >= max_bytes:
            return first.end - first.position, first.header.next_offset
        border = border_before(segment, first.position + max_bytes)
        if border is None or border.position <= first.position:
            return max_bytes, end_offset
        self._remember(border.header.base_offset, segment, border.position)
        return border.position - first.position, border.header.base_offset

    def _remember(self, offset: int, segment: Segment, position: int) -> None:
        borders = self._borders
        borders.pop(offset, None)
        borders[offset] = (segment, position)
        if len(borders) > RECENT_BORDERS_MAX:
            del borders[next(iter(borders))]


def _batch_at(segment: Segment, position: int, offset: int) -> Located:
    """The batch that is known to begin there, unless the disk says otherwise."""
    header = header_at(segment, position)
    if header.base_offset != offset:
        raise CorruptLogError(f"{segment.path()}, position {position}: base offset {header.base_offset}")
    return Located(position, header)
