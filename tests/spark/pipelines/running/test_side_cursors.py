"""Where side outputs go on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics

from penstock.model.errors import OperatingError
from penstock.spark.pipelines.graph import SideOutput, side_outputs
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running.checkpoints import Checkpoint, local_checkpoint
from penstock.spark.pipelines.running.side_outputs import (
    SAVED_EVERY_BATCHES,
    BatchSigns,
    SideCursor,
    SideOutputs,
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
    assert not _is_quiet(dead, BatchSigns(counts={"side_source_orders_0": 1}))
    assert _is_quiet(dead, BatchSigns(counts={"side_source_orders_0": 0}, late_rows=1))
    assert _is_quiet(late, BatchSigns())
    assert not _is_quiet(late, BatchSigns(late_rows=1))


QUIET = BatchSigns(counts={"side_source_orders_0": 0})
LOUD = BatchSigns(counts={"side_source_orders_0": 1})


@pytest.fixture
def bare_outputs(tmp_path: Path) -> list[SideOutput]:
    """Those of a topic that nobody is asked about."""
    (tmp_path / "p.yml").write_text(FILE.replace("TOPIC", "orders"))
    return side_outputs(load_pipeline(tmp_path / "p.yml"))["f"]


def following(tmp_path: Path, checkpoint: Checkpoint, outputs: list[SideOutput], *, at: int) -> SideOutputs:
    """Side outputs of a stream that began at its first record; they need no Spark before they read one."""
    cursor = SideCursor(batch=at, starts={"orders": {"orders": {"0": 0}}})
    datasets = cast("Any", SimpleNamespace(spark=None))
    return SideOutputs(
        datasets,
        outputs,
        checkpoint=checkpoint,
        cursor=cursor,
        cursor_path=tmp_path / "sides.json",
        settings={},
    )


def remember(tmp_path: Path, first: int, last: int) -> None:
    """Micro-batches as Spark plans and commits them, a record each."""
    (tmp_path / "checkpoint" / "offsets").mkdir(parents=True)
    for batch in range(first, last + 1):
        text = f'v1\n{{"batchWatermarkMs":0}}\n{{"orders":{{"0":{batch + 1}}}}}'
        (tmp_path / "checkpoint" / "offsets" / str(batch)).write_text(text)
        commit(tmp_path, batch)


def test_cursor_is_saved_now_and_then_though_nothing_leaves(
    tmp_path: Path, checkpoint: Checkpoint, bare_outputs: list[SideOutput]
) -> None:
    sides = following(tmp_path, checkpoint, bare_outputs, at=4)
    for batch in range(5, 200):
        assert sides.catch_up({batch: QUIET}, until=batch) == {}
        saved = read_cursor(tmp_path / "sides.json") or SideCursor(batch=4)
        assert batch - saved.batch < SAVED_EVERY_BATCHES


@pytest.mark.parametrize("stands_at", [6, 99, 100])
def test_micro_batches_that_spark_has_forgotten_are_not_made_up(
    tmp_path: Path, checkpoint: Checkpoint, bare_outputs: list[SideOutput], stands_at: int
) -> None:
    remember(tmp_path, 100, 200)
    sides = following(tmp_path, checkpoint, bare_outputs, at=stands_at - 1)

    with pytest.raises(OperatingError) as told:
        sides.catch_up({})

    assert f"stand at micro-batch {stands_at}." in str(told.value)
    assert "the first that Spark remembers is 100." in str(told.value)
    assert f"Remove {tmp_path / 'sides.json'} to go on" in str(told.value)


def test_forgotten_micro_batch_does_not_matter_if_it_was_quiet(
    tmp_path: Path, checkpoint: Checkpoint, bare_outputs: list[SideOutput]
) -> None:
    remember(tmp_path, 100, 200)
    sides = following(tmp_path, checkpoint, bare_outputs, at=5)
    signs = {batch: QUIET for batch in range(6, 100)}

    assert sides.catch_up(signs, until=99) == {}
    with pytest.raises(OperatingError, match="stand at micro-batch 100"):
        sides.catch_up({100: LOUD}, until=100)


def test_removing_the_cursor_goes_on_after_the_last_commit(
    tmp_path: Path, checkpoint: Checkpoint, bare_outputs: list[SideOutput]
) -> None:
    remember(tmp_path, 100, 200)
    path = tmp_path / "sides.json"
    write_cursor(path, SideCursor(batch=5))
    path.unlink()

    begun = begin_cursor(path, checkpoint, bare_outputs, {})

    assert following(tmp_path, checkpoint, bare_outputs, at=begun.batch).catch_up({}) == {}
