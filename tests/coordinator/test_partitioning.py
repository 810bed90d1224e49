import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.coordinator.partitioning import java_string_hash, partition_for
from penstock.model.errors import UsageError

SMALLEST_HASH = "polygenelubricants"
"""A well-known string whose hash in Java is the smallest 32-bit number."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("Hello, World!", 1498789909),
        (SMALLEST_HASH, -(2**31)),
        ("é", 233),
        ("😀", 0xD83D * 31 + 0xDE00),
    ],
)
def test_hash_is_that_of_java(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


def test_partition_of_a_negative_hash_is_that_of_its_absolute_value() -> None:
    text = "orders"
    assert java_string_hash(text) < 0
    assert partition_for(text, 50) == -java_string_hash(text) % 50


def test_partition_of_the_smallest_hash_is_zero() -> None:
    assert partition_for(SMALLEST_HASH, 50) == 0


@given(st.text(), st.integers(1, 1000))
def test_partition_is_one_of_the_topic(key: str, count: int) -> None:
    assert 0 <= partition_for(key, count) < count


def test_topic_without_partitions_is_refused() -> None:
    with pytest.raises(UsageError, match="not 0"):
        partition_for("group", 0)
