"""Where side outputs go on."""

from pathlib import Path

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics

from penstock.spark.pipelines.graph import SideOutput, side_outputs
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running.checkpoints import Checkpoint, local_checkpoint
from penstock.spark.pipelines.running.side_outputs import (
    BatchSigns,
    SideCursor,
    _is_quiet,
    begin_cursor,
    read_cursor,
    write_cursor,
)

pytestmark = pytest.mark.slow

FILE = """
name: p
storage: s
sources:
  orders: {options: {subscribe: TOPIC}, value: {schema: a int, deadLetterTopic: dlq}}
flows:
  f:
    from: orders
    steps:
      - window: {time: t, size: 1 hour, aggregate: {n: count(*)}, lateTopic: late}
    sink: {format: noop}
"""


@pytest.fixture
def topic(bootstrap: str, unique: UniqueName) -> str:
    name = unique("orders")
    topics = Topics(bootstrap)
    topics.create(name)
    topics.put(name, ["a", "b", "c"])
    return name


@pytest.fixture
def outputs(topic: str, tmp_path: Path) -> list[SideOutput]:
    (tmp_path / "p.yml").write_text(FILE.replace("TOPIC", topic))
    return side_outputs(load_pipeline(tmp_path / "p.yml"))["f"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    found = local_checkpoint(str(tmp_path / "checkpoint"))
    assert found is not None
    return found


def commit(tmp_path: Path, batch: int) -> None:
    (tmp_path / "checkpoint" / "commits").mkdir(parents=True, exist_ok=True)
    (tmp_path / "checkpoint" / "commits" / str(batch)).write_text("v1\n{}")


def test_new_flow_begins_where_its_source_does_and_remembers_that(
    tmp_path: Path, checkpoint: Checkpoint, outputs: list[SideOutput], topic: str, bootstrap: str
) -> None:
    path, options = tmp_path / "sides.json", {"kafka.bootstrap.servers": bootstrap}

    begun = begin_cursor(path, checkpoint, outputs, options)
    assert begun == SideCursor(
        batch=-1, starts={"orders": {topic: {"0": 3}}}
    )  # The end: latest is the default.
    assert read_cursor(path) == begun

    Topics(bootstrap).put(topic, ["d"])
    assert begin_cursor(path, checkpoint, outputs, options) == begun


def test_flow_that_had_no_side_outputs_before_begins_after_its_last_commit(
    tmp_path: Path, checkpoint: Checkpoint, outputs: list[SideOutput]
) -> None:
    commit(tmp_path, 6)

    assert begin_cursor(tmp_path / "sides.json", checkpoint, outputs, {}) == SideCursor(batch=6)


def test_checkpoint_that_was_removed_begins_anew(
    tmp_path: Path, checkpoint: Checkpoint, outputs: list[SideOutput], bootstrap: str
) -> None:
    path = tmp_path / "sides.json"
    write_cursor(path, SideCursor(batch=6))

    assert begin_cursor(path, checkpoint, outputs, {"kafka.bootstrap.servers": bootstrap}).batch == -1


def test_micro_batch_is_looked_at_again_unless_it_is_certain_that_nothing_left(
    outputs: list[SideOutput],
) -> None:
    late, dead = outputs
    assert (late.topic, dead.topic) == ("late", "dlq")

    assert not _is_quiet(dead, None)
    assert not _is_quiet(dead, BatchSigns())
    assert not _is_quiet(dead, BatchSigns(counts={"side_orders_0": 1}))
    assert _is_quiet(dead, BatchSigns(counts={"side_orders_0": 0}, late_rows=1))
    assert _is_quiet(late, BatchSigns())
    assert not _is_quiet(late, BatchSigns(late_rows=1))
