"""Filters as smaller ranges: no row that a filter would keep is ever left out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.pushdown import EVERYTHING, Bounds, take_filters, within_time
from penstock.spark.offsets.ranges import OffsetRange

TOPIC, PARTITION, OFFSET, TIMESTAMP, VALUE = (
    ("topic",),
    ("partition",),
    ("offset",),
    ("timestamp",),
    ("value",),
)
T = datetime(2026, 1, 31, 8, 0, 0, 123_000, tzinfo=UTC)
T_MS = int(T.timestamp() * 1000)


def bounds_of(*filters: Filter) -> Bounds:
    return take_filters(filters)[0]


@pytest.mark.parametrize(
    ("one", "bounds"),
    [
        (EqualTo(TOPIC, "a"), Bounds(topics=frozenset({"a"}))),
        (In(TOPIC, ("a", "b", None)), Bounds(topics=frozenset({"a", "b"}))),
        (EqualTo(PARTITION, 3), Bounds(partitions=frozenset({3}))),
        (EqualNullSafe(PARTITION, 3), Bounds(partitions=frozenset({3}))),
        (In(PARTITION, (3, 4)), Bounds(partitions=frozenset({3, 4}))),
        (EqualTo(OFFSET, 7), Bounds(offset_min=7, offset_end=8)),
        (GreaterThan(OFFSET, 7), Bounds(offset_min=8)),
        (GreaterThanOrEqual(OFFSET, 7), Bounds(offset_min=7)),
        (LessThan(OFFSET, 7), Bounds(offset_end=7)),
        (LessThanOrEqual(OFFSET, 7), Bounds(offset_end=8)),
        (IsNotNull(TOPIC), EVERYTHING),
        (IsNotNull(OFFSET), EVERYTHING),
    ],
    ids=lambda given: type(given).__name__,
)
def test_filter_that_is_kept_to_the_letter_is_not_left_to_spark(one: Filter, bounds: Bounds) -> None:
    assert take_filters([one]) == (bounds, [])


MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("one", "least_ms"),
    [
        (GreaterThanOrEqual(TIMESTAMP, T), T_MS),
        (GreaterThanOrEqual(TIMESTAMP, T + MICROSECOND), T_MS + 1),
        (GreaterThan(TIMESTAMP, T), T_MS + 1),
        (GreaterThan(TIMESTAMP, T - MICROSECOND), T_MS),
        (EqualTo(TIMESTAMP, T), T_MS),
        (GreaterThan(TIMESTAMP, datetime(1960, 1, 1, tzinfo=UTC)), 0),
    ],
    ids=str,
)
def test_least_timestamp_says_where_to_begin_and_is_left_to_spark_too(one: Filter, least_ms: int) -> None:
    assert take_filters([one]) == (Bounds(timestamp_min_ms=least_ms), [one])


@pytest.mark.parametrize(
    "one",
    [
        LessThan(TIMESTAMP, T),
        LessThanOrEqual(TIMESTAMP, T),
        GreaterThan(TIMESTAMP, datetime(2026, 1, 1)),  # noqa: DTZ001
        IsNotNull(TIMESTAMP),
        IsNotNull(VALUE),
        IsNull(OFFSET),
        Not(EqualTo(PARTITION, 1)),
        EqualTo(VALUE, b"x"),
        EqualTo(PARTITION, None),
        EqualTo(OFFSET, "7"),
        In(OFFSET, (1, 2)),
        GreaterThan(PARTITION, 2),
        StringStartsWith(TOPIC, "a"),
        EqualTo(("headers", "key"), "a"),
    ],
    ids=str,
)
def test_filter_of_which_nothing_can_be_made_is_left_to_spark(one: Filter) -> None:
    assert take_filters([one]) == (EVERYTHING, [one])


def test_filters_hold_together() -> None:
    assert bounds_of(
        GreaterThan(OFFSET, 7),
        GreaterThanOrEqual(OFFSET, 4),
        LessThan(OFFSET, 90),
        LessThan(OFFSET, 80),
        In(PARTITION, (1, 2)),
        EqualTo(PARTITION, 2),
        GreaterThan(TIMESTAMP, T),
        GreaterThanOrEqual(TIMESTAMP, T),
    ) == Bounds(offset_min=8, offset_end=80, partitions=frozenset({2}), timestamp_min_ms=T_MS + 1)


COMPARISONS: dict[type[Any], Any] = {
    EqualTo: lambda row, value: row == value,
    GreaterThan: lambda row, value: row > value,
    GreaterThanOrEqual: lambda row, value: row >= value,
    LessThan: lambda row, value: row < value,
    LessThanOrEqual: lambda row, value: row <= value,
}
OFFSET_FILTERS = st.builds(
    lambda kind, value: kind(OFFSET, value), st.sampled_from(list(COMPARISONS)), st.integers(-5, 40)
)
PARTITION_FILTERS = st.builds(EqualTo, st.just(PARTITION), st.integers(0, 2)) | st.builds(
    In, st.just(PARTITION), st.lists(st.integers(0, 2), min_size=1).map(tuple)
)


def keeps(one: Any, partition: int, offset: int) -> bool:
    if isinstance(one, In):
        return partition in one.value
    row = offset if one.attribute == OFFSET else partition
    return bool(COMPARISONS[type(one)](row, one.value))


@given(st.lists(OFFSET_FILTERS | PARTITION_FILTERS, max_size=5))
def test_what_is_read_is_what_the_filters_keep(filters: list[Filter]) -> None:
    ranges = [OffsetRange(partition=TopicPartition("a", number), start=3, end=30) for number in range(3)]
    bounds, left = take_filters(filters)
    read = {
        (one.partition.partition, offset)
        for one in bounds.narrow(ranges)
        for offset in range(one.start, one.end)
    }

    assert left == []
    assert read == {
        (number, offset)
        for number in range(3)
        for offset in range(3, 30)
        if all(keeps(one, number, offset) for one in filters)
    }


def test_times_are_looked_up_only_where_there_is_something_to_read() -> None:
    full = OffsetRange(partition=TopicPartition("a", 0), start=3, end=30)
    empty = OffsetRange(partition=TopicPartition("a", 1), start=3, end=3)
    bounds = Bounds(timestamp_min_ms=5)

    assert bounds.times([full, empty]) == {full.partition: 5}
    assert EVERYTHING.times([full]) == {}
    assert [one.start for one in within_time([full, empty], {full.partition: 12})] == [12, 3]
    assert [one.start for one in within_time([full], {full.partition: 1})] == [3]
    assert [one.size for one in within_time([full], {full.partition: None})] == [0]
