"""Where rows go: by the column, by the key, or in stretches from partition to partition."""

import random
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from aiokafka.partitioner import murmur2
from tests.spark.writing.arrow_rows import arrow_rows

from penstock.spark.writing.partitioner import Partitioner, RowPlaceError, split_topics
from penstock.spark.writing.rows import read_rows


def partitions(partitioner: Partitioner, count: int = 4, **columns: Any) -> list[int]:
    return [int(number) for number in partitioner.partitions(read_rows(arrow_rows(**columns)), "t", count)]


def partitioner(run_bytes: int = 1_000_000) -> Partitioner:
    return Partitioner(run_bytes=run_bytes, rng=random.Random(3))


def test_a_key_goes_where_kafka_s_clients_put_it() -> None:
    keys = ["", "0", "1", "foobar", "a-little-bit-long-string", "äöü", "x" * 300]

    theirs = [(murmur2(key.encode()) & 0x7FFFFFFF) % 4 for key in keys]
    assert partitions(partitioner(), key=keys) == theirs


def test_the_column_is_stronger_than_the_key() -> None:
    assert partitions(partitioner(), key=["0", "0", None], partition=[3, None, 1]) == [3, 0, 1]


def test_rows_without_a_key_stay_together_and_the_next_go_elsewhere() -> None:
    one = partitioner()

    first, second = partitions(one, value=["a", "b", "c"]), partitions(one, value=["d", "e"])
    assert len(set(first)) == len(set(second)) == 1
    assert second[0] == (first[0] + 1) % 4


def test_many_rows_without_a_key_are_spread_in_stretches() -> None:
    placed = partitions(partitioner(run_bytes=1_000), value=["x" * 100] * 400)

    assert set(placed) == {0, 1, 2, 3}
    changes = sum(left != right for left, right in pairwise(placed))
    assert 30 < changes < 50, "about one stretch for every kilobyte"


def test_the_first_partition_is_drawn_by_lot() -> None:
    starts = {partitions(Partitioner(run_bytes=1_000), value=["x"])[0] for _ in range(100)}
    assert starts == {0, 1, 2, 3}


@pytest.mark.parametrize("wrong", [4, -1])
def test_a_partition_that_is_not_there_is_named_with_the_topic(wrong: int) -> None:
    with pytest.raises(RowPlaceError, match=f"partition {wrong}, but topic 't' has only 4"):
        partitions(partitioner(), value=["a", "b"], partition=[0, wrong])


def test_the_option_is_stronger_than_the_column_topic() -> None:
    rows = read_rows(arrow_rows(value=["a"], topic=["t"]))
    assert list(split_topics(rows, "u")) == ["u"]


def test_rows_are_split_by_their_column_topic_in_order() -> None:
    rows = read_rows(arrow_rows(value=["a", "b", "c"], topic=["t", "u", "t"]))

    split = {
        name: part.records.column("value").to_pylist() for name, part in split_topics(rows, None).items()
    }
    assert split == {"t": [b"a", b"c"], "u": [b"b"]}


def test_a_row_without_a_topic_is_refused() -> None:
    rows = read_rows(arrow_rows(value=["a", "b"], topic=["t", None]))
    with pytest.raises(RowPlaceError, match="A row has no topic"):
        split_topics(rows, None)


def test_strings_and_large_strings_become_the_same_bytes() -> None:
    large = pa.RecordBatch.from_arrays([pa.array(["ü"], pa.large_string())], names=["value"])
    assert read_rows(large).records.column("value").to_pylist() == ["ü".encode()]
