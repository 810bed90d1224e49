"""Keys: exact up to a bound, and never far off behind it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.analysis.key_counts import KeyCounts, keys_per_partition, shown_key


def counts_of(keys: Sequence[bytes | None], *, keys_max: int = 100) -> KeyCounts:
    counts = KeyCounts(keys_max=keys_max)
    for start in range(0, len(keys), 50):
        counts.add(keys[start : start + 50])
    return counts


def test_few_keys_are_counted_exactly_and_null_is_none_of_them() -> None:
    counts = counts_of([b"a", b"b", b"a", None, b""])

    assert counts.is_exact
    assert (counts.distinct_count, counts.keyed_count, counts.null_count) == (3, 4, 1)
    assert [(key, messages) for key, messages, _ in counts.top(2)] == [(b"a", 2), (b"", 1)]
    assert counts.top(1)[0].share == 0.5


def test_many_keys_are_estimated_and_say_so() -> None:
    counts = counts_of([b"%d" % number for number in range(5_000)])

    assert not counts.is_exact
    assert counts.as_json(top_max=1)["method"] == "hyperloglog"
    assert counts.distinct_count == pytest.approx(5_000, rel=0.04)


@given(st.lists(st.integers(0, 300), max_size=2_000))
def test_count_of_a_kept_key_is_too_small_by_no_more_than_it_says(numbers: list[int]) -> None:
    # A heavy key among many: it has to be found whatever comes.
    keys = [b"%d" % number for number in numbers] + [b"heavy"] * 200
    counts = counts_of(keys)

    found = {key: messages for key, messages, _ in counts.top(1_000)}
    for key in {*keys}:
        true_count = keys.count(key)
        assert found.get(key, 0) <= true_count <= found.get(key, 0) + counts.undercount


def test_merged_counts_of_few_keys_are_exact() -> None:
    merged = counts_of([b"a", b"b"])
    merged.merge(counts_of([b"b", None]))

    assert merged.is_exact
    assert (merged.distinct_count, merged.null_count) == (2, 1)
    assert merged.top(1)[0][:2] == (b"b", 2)


def test_merging_estimates_estimates_the_union() -> None:
    merged = counts_of([b"%d" % number for number in range(3_000)])
    merged.merge(counts_of([b"%d" % number for number in range(2_000, 5_000)]))

    assert merged.distinct_count == pytest.approx(5_000, rel=0.04)


def test_merging_an_estimate_into_exact_counts_makes_an_estimate() -> None:
    merged = counts_of([b"a"])
    merged.merge(counts_of([b"%d" % number for number in range(3_000)]))

    assert not merged.is_exact
    assert merged.distinct_count == pytest.approx(3_001, rel=0.04)


def test_long_keys_are_told_apart_but_only_their_beginning_is_kept() -> None:
    counts = counts_of([b"x" * 5_000 + b"1", b"x" * 5_000 + b"2", b"x" * 5_000 + b"2"])

    assert counts.distinct_count == 2
    (first, _) = counts.top(2)
    assert first.messages == 2
    assert shown_key(first.key) == "x" * 32 + "… (5001 bytes)"


@pytest.mark.parametrize(
    ("key", "shown"), [(b"plain", "plain"), (b"\xff\x00", "0xff00"), (b"a\nb", "a\\nb"), ("é".encode(), "é")]
)
def test_shown_key_is_printable(key: bytes, shown: str) -> None:
    assert shown_key(key) == shown


def test_keys_per_partition_shares_a_total_but_leaves_some_to_each() -> None:
    assert keys_per_partition(1, total_max=1_000_000) == 50_000
    assert keys_per_partition(100, total_max=1_000_000) == 10_000
    assert keys_per_partition(100_000, total_max=1_000_000) == 1_000
