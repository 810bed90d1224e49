"""What the checkpoint of a query tells."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.model.ids import TopicPartition
from penstock.spark.archive.batch_offsets import BatchOffsets, read_batch_offsets, read_query_id
from penstock.spark.archive.stores.local_store import LocalStore

ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)


class Checkpoint:
    """As Spark writes it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = LocalStore(directory)
        (directory / "offsets").mkdir()
        (directory / "metadata").write_text('{"id":"1f0c9a2e-1"}')

    def write(self, batch_id: int, *sources: Any, version: str = "v1") -> None:
        lines = [version, '{"batchWatermarkMs":0}']
        lines += ["-" if source is None else json.dumps(source) for source in sources]
        (self.directory / "offsets" / str(batch_id)).write_text("\n".join(lines))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path)


def test_query_has_its_id(checkpoint: Checkpoint) -> None:
    assert read_query_id(checkpoint.store) == "1f0c9a2e-1"


def test_batch_begins_where_the_one_before_ended(checkpoint: Checkpoint) -> None:
    checkpoint.write(4, {"orders": {"0": 5}, "@id orders abc": {}})
    checkpoint.write(5, {"orders": {"0": 9, "1": 3}, "@id orders abc": {}, "@group g": {}})

    found = read_batch_offsets(checkpoint.store, 5)

    assert found.starts == {ZERO: 5}
    assert found.ends == {ZERO: 9, ONE: 3}
    assert found.topic_ids == {"orders": "abc"}


def test_first_batch_has_no_start(checkpoint: Checkpoint) -> None:
    checkpoint.write(0, {"orders": {"0": 5}, "@id orders abc": {}})

    assert read_batch_offsets(checkpoint.store, 0).starts == {}


def test_topic_that_was_made_anew_has_no_start(checkpoint: Checkpoint) -> None:
    checkpoint.write(4, {"orders": {"0": 5}, "@id orders abc": {}})
    checkpoint.write(5, {"orders": {"0": 9}, "@id orders xyz": {}})

    assert read_batch_offsets(checkpoint.store, 5).starts == {}


def test_all_sources_of_topics_count_and_others_do_not(checkpoint: Checkpoint) -> None:
    checkpoint.write(0, {"orders": {"0": 5}}, None, {"logOffset": 3}, 17, {"payments": {"2": 1}})

    ends = read_batch_offsets(checkpoint.store, 0).ends

    assert ends == {ZERO: 5, TopicPartition("payments", 2): 1}


def test_checkpoint_of_an_unknown_format_tells_nothing(checkpoint: Checkpoint) -> None:
    checkpoint.write(0, {"orders": {"0": 5}}, version="v2")

    assert read_batch_offsets(checkpoint.store, 0) == BatchOffsets()
