"""Which neighbouring segments become one when a log is compacted.

As many as together, before anything is taken out, are no larger than a segment may be, in bytes, in index
entries and in offsets. So what is left of them fits for certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RELATIVE_OFFSET_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSize:
    """What grouping needs to know of a segment."""

    base_offset: int
    next_offset: int
    size_bytes: int
    index_bytes: int
    """Of the larger of its indexes."""


def group_segments(sizes: Sequence[SegmentSize], *, segment_bytes: int, index_bytes: int) -> list[range]:
    """Groups, as ranges of positions in ``sizes``, oldest first; every segment is in one of them."""
    groups: list[range] = []
    start = total_bytes = total_index_bytes = 0
    for number, size in enumerate(sizes):
        total_bytes += size.size_bytes
        total_index_bytes += size.index_bytes
        span = size.next_offset - 1 - sizes[start].base_offset
        fits = total_bytes <= segment_bytes and total_index_bytes <= index_bytes
        if number > start and not (fits and span <= RELATIVE_OFFSET_MAX):
            groups.append(range(start, number))
            start, total_bytes, total_index_bytes = number, size.size_bytes, size.index_bytes
    if sizes:
        groups.append(range(start, len(sizes)))
    return groups
