"""Histograms of sizes: exact where they say so, close elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.analysis.size_histogram import SizeHistogram

SIZES = st.lists(st.integers(0, 2**31), min_size=1, max_size=200)


def histogram_of(sizes: list[int]) -> SizeHistogram:
    histogram = SizeHistogram()
    histogram.add(sizes)
    return histogram


@given(SIZES, st.sampled_from([1, 50, 90, 99, 100]))
def test_percentile_of_any_sizes_is_off_by_less_than_one_part_in_64(sizes: list[int], percent: int) -> None:
    exact = sorted(sizes)[max(0, -(-len(sizes) * percent // 100) - 1)]

    assert histogram_of(sizes).percentile(percent) == pytest.approx(exact, rel=1 / 64, abs=0)


@given(SIZES)
def test_count_sum_and_ends_are_exact(sizes: list[int]) -> None:
    histogram = histogram_of(sizes)

    assert (histogram.count, histogram.total) == (len(sizes), sum(sizes))
    assert (histogram.smallest, histogram.largest) == (min(sizes), max(sizes))
    assert histogram.mean == sum(sizes) / len(sizes)


@given(SIZES, SIZES)
def test_merged_histograms_are_that_of_all_sizes(some: list[int], others: list[int]) -> None:
    merged = histogram_of(some)
    merged.merge(histogram_of(others))

    assert merged.as_json() == histogram_of(some + others).as_json()


def test_histogram_of_nothing_has_zeros_and_changes_nothing_when_merged() -> None:
    empty, full = SizeHistogram(), histogram_of([7])
    empty.add([])
    full.merge(empty)

    assert empty.as_json() == {"mean": 0.0, "min": 0, "p50": 0, "p90": 0, "p99": 0, "max": 0}
    assert full.as_json()["min"] == 7


def test_merging_into_an_empty_histogram_takes_the_smallest_over() -> None:
    empty = SizeHistogram()
    empty.merge(histogram_of([7, 9]))

    assert empty.smallest == 7


@given(st.lists(st.integers(0, 10**7), max_size=200))
def test_sizes_that_somebody_else_counted_are_the_same(sizes: list[int]) -> None:
    counted = SizeHistogram()
    counts = {size: sizes.count(size) for size in sizes}
    counted.add_counted(
        counts, total=sum(sizes), smallest=min(sizes, default=0), largest=max(sizes, default=0)
    )

    assert counted.as_json() == histogram_of(sizes).as_json()
    assert counted.by_power() == histogram_of(sizes).by_power()


def test_powers_of_two_bound_what_is_counted_together() -> None:
    assert histogram_of([0, 1, 2, 3, 4, 700]).by_power() == {
        0: 1,
        1: 1,
        2: 2,
        4: 1,
        **dict.fromkeys((8, 16, 32, 64, 128, 256), 0),
        512: 1,
    }
    assert SizeHistogram().by_power() == {}
