"""Estimates of how many keys there are."""

import pytest

from penstock.analysis.hyperloglog import STANDARD_ERROR, HyperLogLog


def sketch_of(first: int, last: int) -> HyperLogLog:
    sketch = HyperLogLog()
    sketch.add(b"key-%d" % number for number in range(first, last))
    return sketch


@pytest.mark.parametrize("count", [0, 1, 100, 10_000, 50_000, 120_000])
def test_estimate_of_different_keys_is_within_four_standard_errors(count: int) -> None:
    assert sketch_of(0, count).estimate() == pytest.approx(count, rel=4 * STANDARD_ERROR)


def test_estimate_of_repeated_keys_does_not_grow() -> None:
    sketch = sketch_of(0, 1_000)
    before = sketch.estimate()
    sketch.add(b"key-%d" % number for number in range(1_000))

    assert sketch.estimate() == before


def test_merged_sketches_are_that_of_all_keys() -> None:
    merged = sketch_of(0, 6_000)
    merged.merge(sketch_of(4_000, 10_000))

    assert merged.estimate() == sketch_of(0, 10_000).estimate()
