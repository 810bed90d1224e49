"""Keys go to the partitions that librdkafka, and so Kafka's Java client, sends them to."""

from typing import Any

import confluent_kafka
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import UsageError
from penstock.spark.columns.partitioning import murmur2, murmur2_partitions

keys = st.lists(st.none() | st.binary(max_size=40) | st.integers(50, 300).map(bytes))


def expected(content: list[bytes | None], partition_count: int) -> list[int]:
    return [-1 if key is None else confluent_kafka.murmur2(key, partition_count) for key in content]


@given(keys, st.integers(1, 10_000), st.integers(0, 5), st.integers(0, 5))
def test_partitions_are_those_of_librdkafka(
    content: list[bytes | None], partition_count: int, before: int, behind: int
) -> None:
    """Also for a slice in the middle of a column."""
    padded = pa.array([b"before"] * before + content + [b"behind"] * behind, pa.binary())
    column = padded.slice(before, len(content))
    assert murmur2_partitions(column, partition_count).tolist() == expected(content, partition_count)


@given(st.lists(keys, max_size=4))
def test_chunks_are_one_column(chunks: list[list[bytes | None]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.binary()) for chunk in chunks], pa.binary())
    content = [key for chunk in chunks for key in chunk]
    assert murmur2_partitions(column, 7).tolist() == expected(content, 7)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view()])
def test_other_types_of_keys_are_hashed_by_their_bytes(kind: Any) -> None:
    column = pa.array([b"a", None, "zwölf".encode()], pa.binary()).cast(kind)
    assert murmur2_partitions(column, 50).tolist() == expected([b"a", None, "zwölf".encode()], 50)


def test_column_of_nothing_but_nulls_has_no_partitions() -> None:
    assert murmur2_partitions(pa.nulls(3), 5).tolist() == [-1, -1, -1]
    assert murmur2_partitions(pa.array([], pa.binary()), 5).tolist() == []


def test_key_of_megabytes_among_small_ones() -> None:
    content = [b"a", bytes(range(256)) * 8000 + b"xyz", b"bc"] * 3
    assert murmur2_partitions(pa.array(content, pa.binary()), 1000).tolist() == expected([*content], 1000)


def test_hash_is_the_published_one() -> None:
    """Values that the tests of Kafka's own client name."""
    known = {b"21": -973932308, b"foobar": -790332482, b"a-little-bit-long-string": -985981536}
    assert murmur2(pa.array(list(known), pa.binary())).view("int32").tolist() == list(known.values())


def test_topic_without_partitions_is_refused() -> None:
    with pytest.raises(UsageError, match="0 partitions"):
        murmur2_partitions(pa.array([b"a"], pa.binary()), 0)
