"""A search for messages, newest first, that tells how far it is and can be ended at any moment.

Partitions are read in windows from their ends backwards, all of them side by side, small windows first: the
newest matches are found at once, and the rest of the topic is read in large pieces. What is complete is told:
how many offsets were looked at, of how many.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.gateway.console.filters.candidate import Candidate, Decode
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.console.messages.cursor import Cursor
from penstock.gateway.console.messages.matches import Matches
from penstock.gateway.console.messages.reading import Located, Reading
from penstock.gateway.console.messages.topic_ranges import TopicRanges
from penstock.records.lazy_record import LazyRecord
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchLimits, OffsetRange

MATCHES_MAX = 5_000
SECONDS_MAX = 600.0

_FIRST_ROUND = 2_000
_ROUND_MAX = 40_000
_WINDOW_MIN = 100
"""Offsets of all partitions in a round, and of one."""

_LIMITS = {
    is_committed: FetchLimits(
        answer_bytes_max=32 * 1024, partition_bytes_max=32 * 1024, is_read_committed=is_committed
    )
    for is_committed in (True, False)
}
"""Answers are small, so that producers, whom the broker serves in between, wait for none for long: with
256 KiB their 99th percentile tripled while somebody searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search is."""

    scanned: int
    """Offsets that were looked at, or skipped since no message is there."""
    total: int
    """Offsets that were to be looked at when it began."""
    matched: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happened since the last step: matches, newest first, and where the search is."""

    matches: list[Located]
    progress: Progress


@dataclass(slots=True, kw_only=True)
class Search:
    """One search; ``steps`` runs it, the other fields tell how it ended."""

    cluster: Cluster
    topic: str
    ranges: TopicRanges
    wanted: Wanted
    decode: Decode
    limit: int
    is_read_committed: bool = True
    seconds_max: float = SECONDS_MAX
    notes: list[str] = field(default_factory=list)
    is_complete: bool = False
    """Whether everything was looked at."""
    cursor: Cursor = field(default_factory=dict)
    """Everything from here on was looked at; a search of what lies before goes on where this one ended."""
    _scanned: int = 0
    _matched: int = 0
    _began: float = 0.0

    def steps(self) -> Iterator[Step]:
        """Run the search; it ends when all is read, enough was found, or it took too long."""
        self._began = time.monotonic()
        self.cursor = {number: offsets.end for number, offsets in self.ranges.items()}
        wide = _FIRST_ROUND
        while windows := self._windows(max(_WINDOW_MIN, wide // len(self.ranges))):
            matches = Matches(windows, count_max=self.limit - self._matched)
            yield from self._scan(windows, matches)
            yield self._close_round(windows, matches)
            if self._matched >= self.limit or self._seconds() > self.seconds_max:
                self.is_complete = not self._windows(1)
                return
            wide = min(wide * 4, _ROUND_MAX)
        self.is_complete = not self.notes

    def _windows(self, width: int) -> dict[int, OffsetRange]:
        return {
            number: OffsetRange(max(offsets.start, self.cursor[number] - width), self.cursor[number])
            for number, offsets in self.ranges.items()
            if self.cursor[number] > offsets.start
        }

    def _scan(self, windows: Mapping[int, OffsetRange], matches: Matches) -> Iterator[Step]:
        reading = Reading(
            cluster=self.cluster,
            topic=self.topic,
            windows=windows,
            limits=_LIMITS[self.is_read_committed],
            notes=self.notes,
        )
        before, covered = self._scanned, sum(window.end - window.start for window in windows.values())
        for answer in reading.lazy_answers():
            for number, records in answer.batches:
                for record in self._wanted_of(number, records):
                    matches.add(number, reading.whole(number, record))
            self._scanned += answer.covered
            yield Step(matches=[], progress=self._progress(len(matches)))
        # Offsets at the end of a window may have no batch any more; what never came was not looked at.
        self._scanned = before + covered - reading.missed

    def _wanted_of(self, number: int, records: list[LazyRecord]) -> list[LazyRecord]:
        wanted, decode = self.wanted, self.decode
        return [record for record in records if wanted(Candidate(number, record, decode))]

    def _close_round(self, windows: Mapping[int, OffsetRange], matches: Matches) -> Step:
        """Tell the newest of what a round found, and move to where the next one ends."""
        told = matches.newest()
        moved = {number: matches.place(number, told, window) for number, window in windows.items()}
        self.cursor = {**self.cursor, **moved}
        self._scanned -= sum(moved[number] - window.start for number, window in windows.items())
        self._matched += len(told)
        return Step(matches=told, progress=self._progress(0))

    def _progress(self, more_matches: int) -> Progress:
        return Progress(
            scanned=self._scanned,
            total=sum(offsets.end - offsets.start for offsets in self.ranges.values()),
            matched=self._matched + more_matches,
            seconds=round(self._seconds(), 3),
        )

    def _seconds(self) -> float:
        return time.monotonic() - self._began
