"""Offsets of a partition and of its copy: pairs that belong together, and what follows for those between.

A sync point (source, target) says two things: all records before ``source`` that were copied are before
``target`` in the copy, and all others will be at ``target`` or behind it. Both stay true for ever, also if
others write into the copy, and if markers of transactions take up offsets there.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

POINTS_MAX = 64
"""Of one partition; it is one record of the map."""

_RECENT = POINTS_MAX // 2


class SyncPoint(NamedTuple):
    """An offset at the source, the one that it became at the target, and how far they go on side by side."""

    source: int
    target: int
    dense_until: int
    """Every offset from ``source`` up to here is a record that was copied."""

    @property
    def is_dense(self) -> bool:
        """Whether it says something about offsets behind its own."""
        return self.dense_until > self.source


Points = tuple[SyncPoint, ...]
"""Of one partition, in their order."""

BEGINNING = SyncPoint(0, 0, 0)
"""True of every partition."""


class Copied(NamedTuple):
    """What a micro-batch did with a partition."""

    start: int
    """At the source: the first offset that it went through."""
    end: int
    """At the source: the offset to go on from."""
    records: int | None
    """How many records were copied; None if nobody counted."""
    target_end: int
    """At the target: the end of the copy, before anything later was copied."""


def extended(points: Points, copied: Copied) -> Points:
    """With what a micro-batch adds; one that is known already adds nothing.

    Offsets that go back are those of a topic that was made anew, on either side: what was known counts no
    more.
    """
    end = SyncPoint(copied.end, copied.target_end, copied.end)
    if points and points[-1].source == copied.end and points[-1].target <= copied.target_end:
        return points
    if (
        not points
        or points == (BEGINNING,)
        or end.source < points[-1].source
        or end.target < points[-1].target
    ):
        points = (SyncPoint(copied.start, 0, copied.start),)
    last = points[-1]
    if last.source == copied.start and copied.records == copied.end - copied.start:
        points = (*points[:-1], last._replace(dense_until=copied.end))
    return _thinned((*points, end))


def translated(points: Points, offset: int) -> int:
    """Where to go on in the copy after going on from ``offset`` at the source would have come next.

    Never behind a record that would be missed: the last sync point before it, or, where every offset since
    then was copied, as many records further.
    """
    number = bisect_right(points, offset, key=lambda point: point.source)
    if number == 0:
        return 0
    point = points[number - 1]
    return point.target + min(offset, point.dense_until) - point.source


def translated_back(points: Points, offset: int) -> int:
    """Where to go on at the source when a reader of the copy goes on from ``offset``; nothing is missed."""
    number = bisect_right(points, offset, key=lambda point: point.target)
    return 0 if number == 0 else points[number - 1].source


def _thinned(points: Sequence[SyncPoint]) -> Points:
    """Not more than allowed: the newest ones stay, and of the others every second one and the first."""
    if len(points) <= POINTS_MAX:
        return tuple(points)
    return (*points[:-_RECENT:2], *points[-_RECENT:])
