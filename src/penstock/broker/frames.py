"""Cuts one connection's byte stream into frames.

The reader never trusts a client's length prefix with memory: a frame's buffer grows as bytes really arrive,
and a length outside the limits ends the connection before anything is reserved. Another broker's word is good
for the whole frame at once, of which only a short beginning is copied then. Frames come out as their own
``bytearray``, so that record batches inside them can be stamped in place and kept without copying.

Receiving is done in two ways: small frames land in a scratch buffer shared by all connections (the loop
reads one socket at a time, so nobody else is using it), large ones directly in their own buffer.
"""

from penstock.model.errors import DecodeError

LENGTH_BYTES = 4
SCRATCH_BYTES = 256 * 1024
ROOM_AHEAD = 3
"""How much room a frame in progress gets ahead, as a multiple of what has arrived of it."""
ROOM_AHEAD_BYTES_MIN = 16 * 1024
ROOM_AHEAD_BYTES_MAX = 2 * 1024 * 1024
SMALL_GROWTH_BYTES = 4 * 1024
TRUSTED_BEGINNING_BYTES = 16 * 1024
"""So much is received between frames of somebody whose frames get their whole buffer at once."""


class FrameReader:
    """The receiving half of a connection, without the socket."""

    __slots__ = ("_filled", "_frame", "_is_trusting", "_length", "_length_max", "_scratch", "_tail")

    def __init__(self, scratch: bytearray, length_max: int, *, is_trusting: bool = False) -> None:
        self._scratch = memoryview(scratch)
        self._length_max = length_max
        self._is_trusting = is_trusting
        self._tail = bytearray()  # the first bytes of a length prefix that has not arrived whole
        self._frame: bytearray | None = None  # a frame in progress; len() is its capacity so far
        self._length = 0  # the length that frame announced
        self._filled = 0  # how much of it has arrived

    @property
    def is_idle(self) -> bool:
        """Whether the stream stands between two frames."""
        return self._frame is None and not self._tail

    @property
    def held_bytes(self) -> int:
        """Memory held by the frame in progress."""
        return 0 if self._frame is None else len(self._frame)

    def buffer(self, *, may_grow: bool = True) -> memoryview:
        """Where the next bytes may be received; a frame that may not grow gets room for a few only."""
        if self._frame is None:
            return self._scratch[:TRUSTED_BEGINNING_BYTES] if self._is_trusting else self._scratch
        if self._filled == len(self._frame):
            self._frame = _enlarged(self._frame, self._next_capacity(may_grow))
        return memoryview(self._frame)[self._filled :]

    def received(self, count: int) -> list[bytearray]:
        """Take in ``count`` bytes that were put into ``buffer()``; return the frames they complete."""
        if self._frame is None:
            return self._cut(self._scratch[:count])
        self._filled += count
        if self._filled < self._length:
            return []
        frame, self._frame = self._frame, None
        return [frame]

    def _cut(self, data: memoryview) -> list[bytearray]:
        if self._tail:
            data = memoryview(bytes(self._tail) + data)
            self._tail.clear()
        frames: list[bytearray] = []
        position, end = 0, len(data)
        while end - position >= LENGTH_BYTES:
            length = self._checked_length(data[position : position + LENGTH_BYTES])
            position += LENGTH_BYTES
            if end - position < length:
                self._begin_frame(data[position:], length)
                return frames
            frames.append(bytearray(data[position : position + length]))
            position += length
        self._tail += data[position:]
        return frames

    def _checked_length(self, prefix: memoryview) -> int:
        length = int.from_bytes(prefix, "big", signed=True)
        if not 0 < length <= self._length_max:
            raise DecodeError(f"frame length {length} is outside 1..{self._length_max}")
        return length

    def _begin_frame(self, start: memoryview, length: int) -> None:
        self._length = length
        self._filled = len(start)
        self._frame = _enlarged(start, self._next_capacity(may_grow=True))

    def _next_capacity(self, may_grow: bool) -> int:
        if self._is_trusting:
            return self._length
        ahead = SMALL_GROWTH_BYTES
        if may_grow:
            ahead = min(max(ROOM_AHEAD * self._filled, ROOM_AHEAD_BYTES_MIN), ROOM_AHEAD_BYTES_MAX)
        return min(self._length, self._filled + ahead)


def _enlarged(content: bytearray | memoryview, capacity: int) -> bytearray:
    buffer = bytearray(capacity)
    buffer[: len(content)] = content
    return buffer
