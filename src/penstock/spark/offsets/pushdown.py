"""Filters of a query as smaller ranges of offsets.

Filters on topic, partition and offset are kept to the letter, so that Spark need not look at the rows again.
A least timestamp says where to begin, but not which records to drop: timestamps need not rise with offsets,
so Spark still looks. A greatest timestamp says nothing of where to end, for the same reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.ranges import OffsetRange

_NEVER_NULL = frozenset({"topic", "partition", "offset"})
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What filters leave of a table; None where they say nothing."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    offset_min: int = 0
    offset_end: int | None = None
    timestamp_min_ms: int | None = None

    def narrow(self, ranges: Iterable[OffsetRange]) -> list[OffsetRange]:
        """What is left of ranges; ``within_time`` comes after it."""
        return [self._narrowed(one) for one in ranges if self._allows(one.partition)]

    def times(self, ranges: Iterable[OffsetRange]) -> dict[TopicPartition, int]:
        """The timestamps to look up, for ``within_time``."""
        if self.timestamp_min_ms is None:
            return {}
        return {one.partition: self.timestamp_min_ms for one in ranges if one.size}

    def _allows(self, partition: TopicPartition) -> bool:
        return (self.topics is None or partition.topic in self.topics) and (
            self.partitions is None or partition.partition in self.partitions
        )

    def _narrowed(self, one: OffsetRange) -> OffsetRange:
        end = one.end if self.offset_end is None else min(one.end, self.offset_end)
        return replace(one, start=max(one.start, self.offset_min), end=end)


EVERYTHING = Bounds()


def within_time(
    ranges: Iterable[OffsetRange], found: Mapping[TopicPartition, int | None]
) -> list[OffsetRange]:
    """The ranges from the first record that is late enough on; ``found`` has its offset, None for none."""
    narrowed: list[OffsetRange] = []
    for one in ranges:
        first = found.get(one.partition, one.start)
        narrowed.append(replace(one, start=one.end if first is None else max(one.start, first)))
    return narrowed


def take_filters(filters: Iterable[Filter]) -> tuple[Bounds, list[Filter]]:
    """What can be made of filters, and those that Spark still has to apply to the rows."""
    bounds, left = EVERYTHING, []
    for one in filters:
        narrower = _take(bounds, one)
        bounds = narrower or bounds
        if narrower is None or _column(one) == "timestamp":
            left.append(one)
    return bounds, left


def _take(bounds: Bounds, one: Filter) -> Bounds | None:
    """The bounds with one more filter; None if nothing can be made of it."""
    column = _column(one)
    if isinstance(one, IsNotNull):
        return bounds if column in _NEVER_NULL else None
    match column:
        case "topic":
            names = frozenset(value for value in _values(one) if type(value) is str)
            return replace(bounds, topics=_both(bounds.topics, names)) if names else None
        case "partition":
            numbers = frozenset(value for value in _values(one) if type(value) is int)
            return replace(bounds, partitions=_both(bounds.partitions, numbers)) if numbers else None
        case "offset":
            return _take_offset(bounds, one)
        case "timestamp":
            return _take_timestamp(bounds, one)
    return None


def _take_offset(bounds: Bounds, one: Filter) -> Bounds | None:
    value = getattr(one, "value", None)
    if type(value) is not int:
        return None
    match one:
        case EqualTo() | EqualNullSafe():
            return _offsets(bounds, value, value + 1)
        case GreaterThan():
            return _offsets(bounds, value + 1, None)
        case GreaterThanOrEqual():
            return _offsets(bounds, value, None)
        case LessThan():
            return _offsets(bounds, 0, value)
        case LessThanOrEqual():
            return _offsets(bounds, 0, value + 1)
    return None


def _offsets(bounds: Bounds, least: int, end: int | None) -> Bounds:
    ends = [each for each in (bounds.offset_end, end) if each is not None]
    return replace(bounds, offset_min=max(bounds.offset_min, least), offset_end=min(ends) if ends else None)


def _take_timestamp(bounds: Bounds, one: Filter) -> Bounds | None:
    value = getattr(one, "value", None)
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    whole_ms = (value - _EPOCH) // _MILLISECOND
    is_whole = (value - _EPOCH) % _MILLISECOND == timedelta(0)
    match one:
        case GreaterThan():
            least = whole_ms + 1
        case EqualTo() | EqualNullSafe() | GreaterThanOrEqual():
            least = whole_ms if is_whole else whole_ms + 1
        case _:
            return None
    known = bounds.timestamp_min_ms
    return replace(bounds, timestamp_min_ms=max(least, 0 if known is None else known))


def _column(one: Filter) -> str | None:
    attribute: tuple[str, ...] = getattr(one, "attribute", ())
    return attribute[0] if len(attribute) == 1 else None


def _values(one: Filter) -> Iterator[Any]:
    """The values that a filter allows; none at all for a filter of another kind."""
    match one:
        case EqualTo(value=value) | EqualNullSafe(value=value):
            yield value
        case In(value=values):
            yield from values


def _both(known: frozenset[Any] | None, more: frozenset[Any]) -> frozenset[Any]:
    return more if known is None else known & more
