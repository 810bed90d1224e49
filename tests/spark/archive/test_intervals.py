"""Sets of offsets, against sets of numbers."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.archive.intervals import Interval, covers, gaps, intersection, outside, union

INTERVAL = st.builds(Interval, st.integers(0, 30), st.integers(0, 30))


def numbers(intervals: tuple[Interval, ...] | list[Interval]) -> set[int]:
    return {number for interval in intervals for number in range(*interval)}


@given(st.lists(INTERVAL, max_size=6))
def test_union_has_all_offsets_in_separate_intervals(some: list[Interval]) -> None:
    joined = union(some)

    assert numbers(joined) == numbers(some)
    assert list(joined) == sorted(joined)
    assert not any(interval.is_empty for interval in joined)
    assert not any(gap.is_empty for gap in gaps(joined))


@given(st.lists(INTERVAL, max_size=6), INTERVAL)
def test_intersection_has_the_offsets_of_both(some: list[Interval], wanted: Interval) -> None:
    assert numbers(intersection(union(some), wanted)) == numbers(some) & numbers([wanted])


@given(st.lists(INTERVAL, max_size=6), INTERVAL)
def test_outside_is_what_others_do_not_have(some: list[Interval], wanted: Interval) -> None:
    left = outside(union(some), wanted)

    assert numbers(left) == numbers([wanted]) - numbers(some)
    assert list(left) == sorted(left)
    assert not any(interval.is_empty for interval in left)


@given(st.lists(INTERVAL, max_size=6), INTERVAL)
def test_covers_means_that_nothing_is_missing(some: list[Interval], wanted: Interval) -> None:
    assert covers(union(some), wanted) == (numbers([wanted]) <= numbers(some))


@given(st.lists(INTERVAL, min_size=1, max_size=6))
def test_gaps_are_what_is_missing_in_between(some: list[Interval]) -> None:
    present = numbers(some)
    between = set(range(min(present), max(present) + 1)) if present else set()

    assert numbers(gaps(union(some))) == between - present
