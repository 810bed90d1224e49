"""Percentiles and rates."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.measurement import Measurement, percentiles_of

MILLISECOND = 1_000_000


def test_percentiles_of_a_hundred_even_values_are_their_ranks() -> None:
    found = percentiles_of([number * MILLISECOND for number in range(1, 101)])

    assert found is not None
    assert (found.p50_ms, found.p99_ms, found.p999_ms, found.max_ms) == (50, 99, 100, 100)


def test_percentiles_of_one_value_are_all_that_value() -> None:
    found = percentiles_of([3 * MILLISECOND])

    assert found is not None
    assert found.p50_ms == found.p99_ms == found.p999_ms == found.max_ms == 3


def test_percentiles_of_nothing_is_none() -> None:
    assert percentiles_of([]) is None


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=300))
def test_percentiles_at_least_their_share_of_values_do_not_exceed_them(waits_ns: list[int]) -> None:
    found = percentiles_of(waits_ns)

    assert found is not None
    for share, value_ms in ((0.5, found.p50_ms), (0.99, found.p99_ms), (0.999, found.p999_ms)):
        below = sum(round(wait / MILLISECOND, 4) <= value_ms for wait in waits_ns)
        assert below >= share * len(waits_ns)


def test_measurement_rates_follow_from_counts() -> None:
    measured = Measurement(name="x", client="raw", records=300, bytes=6_000_000, seconds=2.0, requests=10)

    fields = measured.as_json()
    assert fields["records_per_second"] == 150
    assert fields["megabytes_per_second"] == 3
    assert fields["requests_per_second"] == 5


def test_measurement_without_requests_has_no_request_rate() -> None:
    measured = Measurement(name="x", client="disk", records=1, bytes=1, seconds=1.0)

    assert measured.requests_per_second is None
    assert measured.as_json()["requests_per_second"] is None
