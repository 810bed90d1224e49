"""Telling a torn tail from damage: why the first bad batch of a log is bad.

A power loss may leave any part of what was not flushed: nothing, a beginning, or single sectors with zeros
between. That is a *torn tail*; nobody was promised it, and it is cut off. Bytes that had been flushed and
are bad now are *damage*; cutting there would lose what was acknowledged, so nobody touches it (disk rule
31).

Damage for certain: below what is known to have been durable, or in a segment that has a successor. Torn for
certain: nothing newer is intact behind it. Between the two, a write of many batches can be torn in the
middle; it then shows a sector that never arrived, all zeros, inside the bad batch. Flipped bits leave no
such hole.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from struct import Struct

from penstock.records.batch import HEADER_BYTES, LOG_OVERHEAD, crc_matches, read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.batch_scan import CHECK_CHUNK_BYTES, BadBatch
from penstock.storage.filesystem import File

SECTOR_BYTES = 512

_OFFSET = Struct(">q")
_FIXED_OFFSET_BYTES = 5
"""Leading bytes that base offsets within reach of each other share, but for a carry."""


class TailVerdict(StrEnum):
    """What the bytes from the first bad batch on are."""

    UNUSED = "unused"
    """Zeros to the end: room that was reserved and never written."""
    TORN = "torn"
    DAMAGED = "damaged"


def judge_tail(
    file: File, bad: BadBatch, *, size: int, durable_offset: int, has_successor: bool
) -> TailVerdict:
    """The verdict on what begins at ``bad``, in a file of ``size`` bytes."""
    if bad.expected_offset < durable_offset or has_successor:
        return TailVerdict.DAMAGED
    if all(not any(chunk) for _, chunk in _chunks(file, bad.position, size)):
        return TailVerdict.UNUSED
    if not _has_newer_batch(file, bad, size) or _has_missing_sector(file, bad, size):
        return TailVerdict.TORN
    return TailVerdict.DAMAGED


def _chunks(file: File, position: int, end: int, *, overlap: int = 0) -> Iterator[tuple[int, bytes]]:
    while position < end:
        chunk = file.read(position, min(CHECK_CHUNK_BYTES, end - position))
        yield position, chunk
        if len(chunk) <= overlap or position + len(chunk) >= end:
            return
        position += len(chunk) - overlap


def _has_newer_batch(file: File, bad: BadBatch, size: int) -> bool:
    """Whether an intact batch of a later offset begins there or anywhere behind."""
    pattern = _header_pattern(bad.expected_offset)
    for start, chunk in _chunks(file, bad.position, size, overlap=HEADER_BYTES):
        for match in pattern.finditer(chunk):
            if _is_newer_batch(file, start + match.start(), size, bad.expected_offset):
                return True
    return False


def _header_pattern(expected_offset: int) -> re.Pattern[bytes]:
    """What the header of a batch a little behind ``expected_offset`` looks like, wherever it begins."""
    near = (expected_offset, expected_offset + (1 << 8 * (8 - _FIXED_OFFSET_BYTES)))
    prefixes = {re.escape(_OFFSET.pack(offset)[:_FIXED_OFFSET_BYTES]) for offset in near}
    # Base offset, a length below 2^31, leader epoch, magic 2; a look-ahead, so that matches may overlap.
    return re.compile(b"(?=(?:" + b"|".join(sorted(prefixes)) + rb").{3}[\x00-\x7f].{7}\x02)", re.DOTALL)


def _is_newer_batch(file: File, position: int, size: int, expected_offset: int) -> bool:
    try:
        header = read_header(file.read(position, HEADER_BYTES))
    except CorruptBatchError:
        return False
    if header.base_offset <= expected_offset or position + header.size_bytes > size:
        return False
    return crc_matches(file.read(position, header.size_bytes), header)


def _has_missing_sector(file: File, bad: BadBatch, size: int) -> bool:
    """Whether the bad batch, as far as its length can be believed, holds nothing but zeros in some sector."""
    position = bad.position
    end = min(size, position + max(HEADER_BYTES, LOG_OVERHEAD + _claimed_length(file, position)))
    data = file.read(position, end - position)
    starts = [position, *range(position - position % SECTOR_BYTES + SECTOR_BYTES, end, SECTOR_BYTES)]
    ends = [*starts[1:], end]
    if ends[0] - position <= _leading_zeros(bad.expected_offset):
        # So little of the batch is in its first sector that it is zeros anyway.
        del starts[0], ends[0]
    return any(
        not any(data[start - position : stop - position]) for start, stop in zip(starts, ends, strict=True)
    )


def _leading_zeros(expected_offset: int) -> int:
    """How many bytes of zeros a good batch may begin with: of its base offset and, behind 0, its length."""
    if expected_offset == 0:
        return LOG_OVERHEAD - 1
    return 8 - (expected_offset.bit_length() + 7) // 8


def _claimed_length(file: File, position: int) -> int:
    return int.from_bytes(file.read(position + 8, 4), "big", signed=True)
