"""Which partition each row goes to: the one it names, else that of its key, else whichever is next.

Keys go where Kafka's own clients put them. Rows without a key stay together for about a batch, so that
batches are large, and then go on to the next partition; the first is drawn by lot, since otherwise small
writes would all end in the same one.
"""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.model.errors import UsageError
from penstock.spark.columns.partitioning import murmur2_partitions
from penstock.spark.writing.rows import Rows

Numbers = npt.NDArray[np.int32]


class RowPlaceError(UsageError):
    """A row that names a place where there is none."""


class Partitioner:
    """Places the rows of one task; remembers where those without a key went last."""

    def __init__(self, *, run_bytes: int, rng: random.Random | None = None) -> None:
        self._run_bytes = run_bytes
        self._rng = rng or random.Random()
        self._next: dict[str, int] = {}

    def partitions(self, rows: Rows, topic: str, partition_count: int) -> Numbers:
        """The partition of each row, all of which go to ``topic``."""
        placed = murmur2_partitions(rows.keys, partition_count)
        if rows.partitions is not None:
            given = rows.partitions.fill_null(-1).to_numpy(zero_copy_only=False)
            _check_given(rows.partitions, topic, partition_count)
            placed = np.where(given >= 0, given, placed).astype(np.int32)
        keyless = np.flatnonzero(placed < 0)
        if len(keyless):
            placed[keyless] = self._runs(rows, topic, partition_count, keyless)
        return placed

    def _runs(self, rows: Rows, topic: str, partition_count: int, keyless: Any) -> Numbers:
        """Stretches of about a batch each, one partition after the other."""
        run_count = max(1, rows.records.nbytes * len(keyless) // (len(rows) * self._run_bytes))
        first = self._next.get(topic)
        if first is None:
            first = self._rng.randrange(partition_count)
        self._next[topic] = (first + run_count) % partition_count
        runs = np.arange(len(keyless)) * run_count // len(keyless)
        numbers: Numbers = ((first + runs) % partition_count).astype(np.int32)
        return numbers


def _check_given(partitions: Any, topic: str, partition_count: int) -> None:
    numbers = partitions.drop_null().to_numpy(zero_copy_only=False)
    wrong = numbers[(numbers < 0) | (numbers >= partition_count)]
    if len(wrong):
        raise RowPlaceError(
            f"A row has partition {wrong[0]}, but topic {topic!r} has only {partition_count}, from 0 on: "
            "correct the column partition, or leave it null to have the key decide."
        )


def split_topics(rows: Rows, topic: str | None) -> Mapping[str, Rows]:
    """The rows of each topic; ``topic`` is stronger than what they say themselves."""
    if topic is not None:
        return {topic: rows}
    if rows.topics is None or rows.topics.null_count:
        raise RowPlaceError(
            "A row has no topic: fill the column topic in every row, or give the option topic for all."
        )
    encoded = rows.topics.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    if len(names) == 1:
        return {names[0]: rows}
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return {name: rows.taken(pa.array(np.flatnonzero(codes == code))) for code, name in enumerate(names)}
