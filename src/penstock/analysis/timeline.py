"""When messages were written: counts per stretch of time, as fine as a fixed number of stretches allows.

It begins with seconds. When there are too many, neighbours are put together, to five seconds, ten, and so on:
each width is a multiple of the one before, so nothing is ever counted in the wrong place. Stretches begin at
multiples of their width since 1970, in UTC.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

BUCKETS_MAX = 256

_SECOND_MS = 1_000
_MINUTE_MS = 60 * _SECOND_MS
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS

WIDTHS_MS = (
    *(_SECOND_MS, 5 * _SECOND_MS, 10 * _SECOND_MS, 30 * _SECOND_MS),
    *(_MINUTE_MS, 5 * _MINUTE_MS, 10 * _MINUTE_MS, 30 * _MINUTE_MS),
    *(_HOUR_MS, 6 * _HOUR_MS, 12 * _HOUR_MS),
    *(_DAY_MS, 7 * _DAY_MS, 28 * _DAY_MS, 364 * _DAY_MS),
)
"""Behind the last, each is twice the one before."""


class Bucket(NamedTuple):
    """A stretch of time that begins at ``start_ms``, and how many messages are of it."""

    start_ms: int
    messages: int


class Timeline:
    """Messages by their timestamps."""

    __slots__ = ("_counts", "earliest_ms", "latest_ms", "untimed_count", "width_ms")

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self.width_ms = WIDTHS_MS[0]
        self.earliest_ms: int | None = None
        self.latest_ms: int | None = None
        #: Messages whose writer gave no time.
        self.untimed_count = 0

    def add(self, timestamps: Sequence[int]) -> None:
        """Count these, in milliseconds since 1970; a negative one is none."""
        timed = [each for each in timestamps if each >= 0] if min(timestamps, default=0) < 0 else timestamps
        self.untimed_count += len(timestamps) - len(timed)
        if timed:
            self._stretch(min(timed), max(timed))
            width = self.width_ms
            self._counts.update([each // width for each in timed])
            self._limit()

    def add_counted(
        self, counts: Mapping[int, int], *, width_ms: int, earliest_ms: int, latest_ms: int
    ) -> None:
        """Count what somebody else has counted: messages by when their stretches of ``width_ms`` begin."""
        self._stretch(earliest_ms, latest_ms)
        self._widen_to(width_ms)
        for start_ms, count in counts.items():
            self._counts[start_ms // self.width_ms] += count
        self._limit()

    def merge(self, other: "Timeline") -> None:
        """Count all that the other has counted."""
        self.untimed_count += other.untimed_count
        if other.earliest_ms is None or other.latest_ms is None:
            return
        self._stretch(other.earliest_ms, other.latest_ms)
        self._widen_to(other.width_ms)
        for number, count in other._counts.items():
            self._counts[number * other.width_ms // self.width_ms] += count
        self._limit()

    def buckets(self, *, count_max: int = BUCKETS_MAX) -> tuple[int, list[Bucket]]:
        """A width in milliseconds, and the stretches of it from first to last, empty ones too."""
        copy = Timeline()
        copy.merge(self)
        while copy._span() > count_max:
            copy._widen()
        if not copy._counts:
            return copy.width_ms, []
        numbers = range(min(copy._counts), max(copy._counts) + 1)
        return copy.width_ms, [Bucket(each * copy.width_ms, copy._counts[each]) for each in numbers]

    def as_json(self) -> dict[str, Any]:
        """Width, ends and counts."""
        width_ms, buckets = self.buckets()
        return {
            "earliest_ms": self.earliest_ms,
            "latest_ms": self.latest_ms,
            "untimed_messages": self.untimed_count,
            "bucket_ms": width_ms,
            "buckets": [{"start_ms": each.start_ms, "messages": each.messages} for each in buckets],
        }

    def _stretch(self, earliest_ms: int, latest_ms: int) -> None:
        self.earliest_ms = earliest_ms if self.earliest_ms is None else min(self.earliest_ms, earliest_ms)
        self.latest_ms = latest_ms if self.latest_ms is None else max(self.latest_ms, latest_ms)

    def _span(self) -> int:
        return max(self._counts) - min(self._counts) + 1 if self._counts else 0

    def _limit(self) -> None:
        while len(self._counts) > BUCKETS_MAX:
            self._widen()

    def _widen(self) -> None:
        self._widen_to(next(width for width in _widths() if width > self.width_ms))

    def _widen_to(self, width_ms: int) -> None:
        if width_ms > self.width_ms:
            counts: Counter[int] = Counter()
            for number, count in self._counts.items():
                counts[number * self.width_ms // width_ms] += count
            self._counts, self.width_ms = counts, width_ms


def fitting_width_ms(earliest_ms: int, latest_ms: int, *, count_max: int = BUCKETS_MAX) -> int:
    """The width of which at most ``count_max`` stretches cover all from the earliest to the latest."""
    return next(width for width in _widths() if latest_ms // width - earliest_ms // width + 1 <= count_max)


def _widths() -> Iterable[int]:
    yield from WIDTHS_MS
    yield from _doubled(WIDTHS_MS[-1])


def _doubled(width_ms: int) -> Iterator[int]:
    while True:
        width_ms *= 2
        yield width_ms
