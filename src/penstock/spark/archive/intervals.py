"""Stretches of offsets as a set: what of a partition is archived, and what of that somebody wants again."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class Interval(NamedTuple):
    """Offsets from ``start``; ``end`` is not among them."""

    start: int
    end: int

    @property
    def is_empty(self) -> bool:
        """Whether it has no offset."""
        return self.end <= self.start


Intervals = tuple[Interval, ...]
"""In order, without overlap, none empty and no two that touch."""


def union(intervals: Iterable[Interval]) -> Intervals:
    """All offsets that are in any of them."""
    joined: list[Interval] = []
    for interval in sorted(interval for interval in intervals if not interval.is_empty):
        if joined and interval.start <= joined[-1].end:
            joined[-1] = Interval(joined[-1].start, max(joined[-1].end, interval.end))
        else:
            joined.append(interval)
    return tuple(joined)


def intersection(intervals: Intervals, wanted: Interval) -> Intervals:
    """The offsets of ``wanted`` that are in one of them."""
    cut = (Interval(max(one.start, wanted.start), min(one.end, wanted.end)) for one in intervals)
    return tuple(interval for interval in cut if not interval.is_empty)


def covers(intervals: Intervals, wanted: Interval) -> bool:
    """Whether every offset of ``wanted`` is in one of them."""
    return wanted.is_empty or intersection(intervals, wanted) == (wanted,)


def outside(intervals: Intervals, wanted: Interval) -> Intervals:
    """The offsets of ``wanted`` that are in none of them."""
    found, start = [], wanted.start
    for taken in intersection(intervals, wanted):
        found.append(Interval(start, taken.start))
        start = taken.end
    found.append(Interval(start, wanted.end))
    return tuple(interval for interval in found if not interval.is_empty)


def gaps(intervals: Intervals) -> Intervals:
    """What is missing between the first and the last offset."""
    return tuple(Interval(before.end, after.start) for before, after in pairwise(intervals))
