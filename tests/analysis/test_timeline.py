"""Timelines: nothing is lost when they become coarser."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.analysis.timeline import BUCKETS_MAX, WIDTHS_MS, Timeline, fitting_width_ms

TIMES = st.lists(st.integers(-1, 2**62), max_size=400)
DAY_MS = 24 * 60 * 60 * 1000


def timeline_of(times: list[int]) -> Timeline:
    timeline = Timeline()
    timeline.add(times)
    return timeline


def test_each_width_is_a_multiple_of_the_one_before() -> None:
    assert all(after % before == 0 for before, after in pairwise(WIDTHS_MS))


@given(TIMES)
def test_every_message_is_counted_in_a_bounded_number_of_buckets(times: list[int]) -> None:
    timeline = timeline_of(times)

    _, buckets = timeline.buckets()
    assert len(buckets) <= BUCKETS_MAX
    assert sum(each.messages for each in buckets) + timeline.untimed_count == len(times)


@given(TIMES, TIMES)
def test_merged_timelines_are_that_of_all_messages(some: list[int], others: list[int]) -> None:
    merged = timeline_of(some)
    merged.merge(timeline_of(others))

    assert merged.as_json() == timeline_of(some + others).as_json()


def test_buckets_of_a_few_seconds_are_seconds_with_empty_ones_between() -> None:
    width_ms, buckets = timeline_of([1_000, 1_999, 3_000]).buckets()

    assert width_ms == 1_000
    assert buckets == [(1_000, 2), (2_000, 0), (3_000, 1)]


def test_buckets_of_years_are_as_fine_as_the_number_allows() -> None:
    timeline = timeline_of([day * DAY_MS for day in range(1_000)])

    assert timeline.buckets()[0] == 7 * DAY_MS
    assert timeline.buckets(count_max=40)[0] == 28 * DAY_MS
    assert timeline.buckets()[0] == 7 * DAY_MS, "asking for fewer changes nothing"


def test_messages_without_a_time_are_counted_apart() -> None:
    timeline = timeline_of([-1, 5_000, -1])

    assert timeline.untimed_count == 2
    assert (timeline.earliest_ms, timeline.latest_ms) == (5_000, 5_000)


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=400))
def test_times_that_somebody_else_counted_are_the_same(times: list[int]) -> None:
    width_ms = fitting_width_ms(min(times), max(times))
    starts = [time - time % width_ms for time in times]
    counted = Timeline()
    counted.add_counted(
        {start: starts.count(start) for start in starts},
        width_ms=width_ms,
        earliest_ms=min(times),
        latest_ms=max(times),
    )

    assert counted.as_json() == timeline_of(times).as_json()
