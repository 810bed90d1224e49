"""A page of messages over all partitions, in the order of their times, newest first.

Within a partition offsets always descend, whatever the timestamps say, so that a place between two pages is
one offset for each partition, and paging on repeats and leaves out nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.gateway.console.messages.cursor import Cursor
from penstock.gateway.console.messages.merging import NEWEST_FIRST, OLDEST_FIRST, merged
from penstock.gateway.console.messages.reading import Located, Reading, read_all
from penstock.gateway.console.messages.topic_ranges import TopicRanges
from penstock.records.record import Record
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchLimits, OffsetRange

MESSAGES_MAX = 500
_BYTES_AT_ONCE = 128 * 1024
_ROUNDS_MAX = 12
"""Each looks at twice as many offsets as the one before: a compacted topic has few records among many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Messages, newest first, and the places where the pages beside it begin."""

    messages: list[Located]
    older: Cursor
    """What comes next lies before these offsets."""
    newer: Cursor
    """What came before lies at these offsets, or behind them."""
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Stretch:
    """What was read of one partition, ordered from where the page begins."""

    records: list[Record]
    is_complete: bool
    """Whether there is nothing beyond it."""
    reached: int
    """Up to where it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Reads pages of one topic."""

    cluster: Cluster
    topic: str
    ranges: TopicRanges
    is_read_committed: bool = True

    def before(self, cursor: Cursor, *, count: int) -> Page:
        """The newest messages with offsets below those of the cursor."""
        notes: list[str] = []
        stretches = self._stretches(cursor, count=count, direction=NEWEST_FIRST, notes=notes)
        taken = _chosen(stretches, count=count, direction=NEWEST_FIRST)
        older = {
            number: _last(each, taken, otherwise=cursor[number], number=number)
            for number, each in stretches.items()
        }
        return Page(messages=taken, older=older, newer=dict(cursor), notes=notes)

    def after(self, cursor: Cursor, *, count: int) -> Page:
        """The oldest messages with offsets of the cursor, or above."""
        notes: list[str] = []
        stretches = self._stretches(cursor, count=count, direction=OLDEST_FIRST, notes=notes)
        taken = _chosen(stretches, count=count, direction=OLDEST_FIRST)
        newer = {
            number: _last(each, taken, otherwise=cursor[number], number=number, step=1)
            for number, each in stretches.items()
        }
        return Page(messages=taken[::-1], older=dict(cursor), newer=newer, notes=notes)

    def _stretches(
        self, cursor: Cursor, *, count: int, direction: int, notes: list[str]
    ) -> dict[int, _Stretch]:
        """Enough records of every partition to choose ``count`` among all."""
        found = {number: self._stretch(number, cursor[number], direction=direction) for number in self.ranges}
        width = count
        for _ in range(_ROUNDS_MAX):
            windows = self._windows(found, count=count, width=width, direction=direction)
            if not windows:
                break
            self._extend(found, windows, direction=direction, notes=notes)
            width *= 2
        return found

    def _stretch(self, number: int, reached: int, *, direction: int) -> _Stretch:
        is_complete = self._is_at_end(number, reached, direction=direction)
        return _Stretch(records=[], is_complete=is_complete, reached=reached)

    def _is_at_end(self, number: int, reached: int, *, direction: int) -> bool:
        start, end = self.ranges[number]
        return reached <= start if direction < 0 else reached >= end

    def _windows(
        self, found: Mapping[int, _Stretch], *, count: int, width: int, direction: int
    ) -> dict[int, OffsetRange]:
        windows: dict[int, OffsetRange] = {}
        for number, stretch in found.items():
            start, end = self.ranges[number]
            if stretch.is_complete or len(stretch.records) >= count:
                continue
            if direction < 0:
                windows[number] = OffsetRange(max(start, stretch.reached - width), stretch.reached)
            else:
                windows[number] = OffsetRange(stretch.reached, min(end, stretch.reached + width))
        return windows

    def _extend(
        self,
        found: Mapping[int, _Stretch],
        windows: Mapping[int, OffsetRange],
        *,
        direction: int,
        notes: list[str],
    ) -> None:
        limits = FetchLimits(partition_bytes_max=_BYTES_AT_ONCE, is_read_committed=self.is_read_committed)
        reading = Reading(cluster=self.cluster, topic=self.topic, windows=windows, limits=limits, notes=notes)
        for number, records in read_all(reading).items():
            found[number].records += records[::direction]
            reached = windows[number].start if direction < 0 else windows[number].end
            found[number].reached = reached
            found[number].is_complete = self._is_at_end(number, reached, direction=direction)


def _chosen(stretches: Mapping[int, _Stretch], *, count: int, direction: int) -> list[Located]:
    return merged(
        {number: each.records for number, each in stretches.items()},
        count=count,
        direction=direction,
        unfinished=[number for number, each in stretches.items() if not each.is_complete],
    )


def _last(stretch: _Stretch, taken: Iterable[Located], *, otherwise: int, number: int, step: int = 0) -> int:
    """Where to go on in a partition: behind the last record that was taken of it."""
    own = [record.offset for partition, record in taken if partition == number]
    if len(own) == len(stretch.records):
        return stretch.reached
    return own[-1] + step if own else otherwise
