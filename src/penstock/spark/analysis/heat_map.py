"""When messages were written, by day and hour: each day for itself, or the days of a week."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

DAYS_MAX = 31
"""Shown one by one; of a longer time the days of the week are added up."""

HOURS = 24
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DAY_MS = 24 * 3_600_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """Messages by day and hour, in UTC."""

    days: tuple[str, ...]
    """Dates, or days of the week; empty if no message has a time."""
    counts: tuple[tuple[int, ...], ...]
    """For each day, 24 of them."""

    @property
    def largest(self) -> int:
        """The most of any hour."""
        return max((count for day in self.counts for count in day), default=0)

    def as_json(self) -> dict[str, Any]:
        """Days and their counts."""
        return {
            "days": [
                {"day": day, "messages_by_hour": list(counts)}
                for day, counts in zip(self.days, self.counts, strict=True)
            ]
        }


def is_weekly(earliest_ms: int, latest_ms: int) -> bool:
    """Whether there are too many days to show each."""
    return latest_ms // _DAY_MS - earliest_ms // _DAY_MS >= DAYS_MAX


def heat_map(counts: Mapping[tuple[int, int], int], *, weekly: bool) -> HeatMap:
    """A map of messages by day (since 1970, or of the week) and hour."""
    if not counts:
        return HeatMap(days=(), counts=())
    numbers = _days(counts, weekly=weekly)
    return HeatMap(
        days=tuple(WEEKDAYS[day] if weekly else _date(day) for day in numbers),
        counts=tuple(tuple(counts.get((day, hour), 0) for hour in range(HOURS)) for day in numbers),
    )


def _days(counts: Mapping[tuple[int, int], int], *, weekly: bool) -> Sequence[int]:
    if weekly:
        return range(len(WEEKDAYS))
    days = [day for day, _ in counts]
    return range(min(days), max(days) + 1)


def _date(day: int) -> str:
    try:
        return (_EPOCH + timedelta(days=day)).strftime("%Y-%m-%d")
    except OverflowError:
        return f"day {day}"
