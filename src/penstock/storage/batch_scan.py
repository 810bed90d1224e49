"""Walking over the batches of a segment file: by header alone, or checking every byte.

Walking by header reads little and believes the lengths it finds; what it starts from must be a batch's
beginning. Checking reads everything once and is what recovery and the first read of old data do.
"""

from collections.abc import Iterator
from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.records.batch import HEADER_BYTES, LOG_OVERHEAD, BatchHeader, crc_matches, read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.filesystem import File

WALK_CHUNK_BYTES = 8 * 1024
"""Read at once when walking: about two index intervals of small batches."""

CHECK_CHUNK_BYTES = 1024 * 1024

NO_GAPS = 0
GAPS_ANYWHERE = 2**63 - 1


class Located(NamedTuple):
    """A batch and where it begins in its segment's file."""

    position: int
    header: BatchHeader

    @property
    def end(self) -> int:
        """The position behind it."""
        return self.position + LOG_OVERHEAD + self.header[1]


class Continuity(NamedTuple):
    """What the base offset of a batch must be: not covered by its checksum, it is checked by this."""

    expected_offset: int
    gaps_below: int = NO_GAPS
    """Offsets below may be missing: compaction has been there, and nothing else takes offsets out."""

    def complaint(self, header: BatchHeader) -> str | None:
        """What is wrong with the batch's offsets."""
        base_offset, wanted = header[0], self.expected_offset
        if base_offset != wanted and not wanted < base_offset < self.gaps_below:
            return f"base offset {base_offset}, expected was {wanted}"
        return f"last offset delta {header[6]}" if header[6] < 0 else None


def walk(
    file: File, position: int, end: int, continuity: Continuity, *, chunk_bytes: int = WALK_CHUNK_BYTES
) -> Iterator[Located]:
    """Each batch from ``position``, where one must begin, to ``end``, where one must end."""
    chunk, chunk_start, wanted = b"", position, chunk_bytes
    expected, gaps_below = continuity
    while position < end:
        at = position - chunk_start
        if at + HEADER_BYTES > len(chunk):
            chunk, chunk_start, at = file.read(position, min(wanted, end - position)), position, 0
        try:
            header = read_header(chunk, at)
        except CorruptBatchError as error:
            raise CorruptLogError(f"{file.path}, position {position}: {error.message}") from error
        size = LOG_OVERHEAD + header[1]
        if size > end - position:
            raise CorruptLogError(f"{file.path}, position {position}: batch claims {size} bytes")
        if header[0] != expected or header[6] < 0:
            complaint = Continuity(expected, gaps_below).complaint(header)
            if complaint is not None:
                raise CorruptLogError(f"{file.path}, position {position}: {complaint}")
        yield Located(position, header)
        position += size
        expected = header[0] + header[6] + 1
        # Between large batches there is nothing to read ahead.
        wanted = chunk_bytes if size < chunk_bytes else HEADER_BYTES


class CheckedRun(NamedTuple):
    """Good batches that stand side by side, with their bytes."""

    position: int
    data: memoryview
    batches: list[Located]


class BadBatch(NamedTuple):
    """Where bytes stop being the batch that must be there, and what is wrong with them."""

    position: int
    expected_offset: int
    reason: str


class BatchChecker:
    """Checks batch after batch: length, magic, checksum, and that offset and epoch follow the last one's.

    Base offset and leader epoch are outside the checksum, so a good batch in the wrong place (a
    misdirected write, a stale sector) shows itself only by them.
    """

    __slots__ = (
        "_chunk_bytes",
        "_end",
        "_file",
        "_wanted_bytes",
        "bad",
        "expected_offset",
        "gaps_below",
        "latest_epoch",
        "position",
    )

    def __init__(
        self,
        file: File,
        position: int,
        end: int,
        *,
        expected_offset: int,
        latest_epoch: int,
        chunk_bytes: int = CHECK_CHUNK_BYTES,
    ) -> None:
        self._file = file
        self._end = end
        self._chunk_bytes = self._wanted_bytes = chunk_bytes
        #: Behind the last good batch.
        self.position = position
        self.expected_offset = expected_offset
        self.latest_epoch = latest_epoch
        #: Offsets below may be missing, see ``Continuity``.
        self.gaps_below = NO_GAPS
        #: Set when a batch is not what it must be; nothing is checked behind it.
        self.bad: BadBatch | None = None

    def runs(self) -> Iterator[CheckedRun]:
        """All good batches, a chunk at a time; ends early, with ``bad`` set, at the first bad one."""
        while self.position < self._end and self.bad is None:
            start, wanted = self.position, min(self._wanted_bytes, self._end - self.position)
            chunk = memoryview(self._file.read(start, wanted))
            self._wanted_bytes = self._chunk_bytes
            batches: list[Located] = []
            while self._check_next(chunk, start, batches):
                pass
            if self.position == start and len(chunk) < wanted and self.bad is None:
                self._fail(f"the file ends {self._end - start - len(chunk)} bytes early")
            if batches:
                yield CheckedRun(start, chunk[: self.position - start], batches)

    def _check_next(self, chunk: memoryview, chunk_start: int, batches: list[Located]) -> bool:
        """Check the batch at ``position``; False when the chunk is used up, or the batch is bad."""
        at = self.position - chunk_start
        available, left = len(chunk) - at, self._end - self.position
        if left == 0 or available < HEADER_BYTES <= left:
            return False
        header = self._read_header(chunk, at)
        if header is None:
            return False
        size = LOG_OVERHEAD + header[1]
        if size > left:
            self._fail(f"the batch claims {size} bytes, {left} are left")
            return False
        if size > available:
            self._wanted_bytes = max(self._chunk_bytes, size)
            return False
        if not crc_matches(chunk, header, at):
            self._fail("the checksum does not match")
            return False
        batches.append(Located(self.position, header))
        self.position += size
        self.expected_offset = header[0] + header[6] + 1
        self.latest_epoch = header[2]
        return True

    def _read_header(self, chunk: memoryview, at: int) -> BatchHeader | None:
        try:
            header = read_header(chunk, at)
        except CorruptBatchError as error:
            self._fail(error.message)
            return None
        complaint = Continuity(self.expected_offset, self.gaps_below).complaint(header)
        if complaint is not None:
            self._fail(complaint)
        elif header[2] < self.latest_epoch:
            self._fail(f"leader epoch {header[2]} after {self.latest_epoch}")
        else:
            return header
        return None

    def _fail(self, reason: str) -> None:
        self.bad = BadBatch(self.position, self.expected_offset, reason)
