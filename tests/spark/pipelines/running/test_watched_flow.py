"""What is told of a flow whose query ends, or fails, while it is stopped."""

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Flow
from penstock.spark.pipelines.running.events import FlowEnded, FlowFailed
from penstock.spark.pipelines.running.watched_flow import WatchedFlow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.spark

SECONDS_MAX = 60.0
FOR_EVER = 10**15
FILE = """
name: p
storage: s
sources:
  numbers: {format: rate-micro-batch}
flows:
  f: {from: numbers, sink: {format: noop}}
"""


class FailingBatch:
    """A micro-batch that takes until it is let go, and then fails."""

    def __init__(self) -> None:
        self.entered, self.released = threading.Event(), threading.Event()

    def __call__(self, rows: "DataFrame", batch: int) -> None:
        self.entered.set()
        assert self.released.wait(SECONDS_MAX)
        rows.sparkSession.sql("SELECT raise_error('the disk is full')").collect()


class EndlessBatch:
    """A micro-batch whose end does not come."""

    def __init__(self) -> None:
        self.entered = threading.Event()

    def __call__(self, rows: "DataFrame", batch: int) -> None:
        self.entered.set()
        rows.sparkSession.range(FOR_EVER).selectExpr("sum(hash(id))").collect()


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    (tmp_path / "p.yml").write_text(FILE)
    return load_pipeline(tmp_path / "p.yml").flows["f"]


def started(spark: "SparkSession", tmp_path: Path, batch: FailingBatch | EndlessBatch) -> "StreamingQuery":
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    query = numbers.writeStream.foreachBatch(batch).option("checkpointLocation", str(tmp_path / "c"))
    running = query.start()
    assert batch.entered.wait(SECONDS_MAX)
    return running


def test_query_that_fails_while_a_stop_waits_for_it_has_failed(
    spark: "SparkSession", tmp_path: Path, flow: Flow
) -> None:
    batch = FailingBatch()
    watched = WatchedFlow("p", flow, started(spark, tmp_path, batch), sides=None)

    batch.released.set()
    deadline = time.monotonic() + SECONDS_MAX
    while watched.is_busy and time.monotonic() < deadline:
        time.sleep(0.02)
    *_, told = watched.stop()

    assert isinstance(told, FlowFailed)
    assert watched.failure is told.failure
    assert "the disk is full" in told.failure.cause


def test_query_that_is_cut_off_by_a_stop_has_ended(spark: "SparkSession", tmp_path: Path, flow: Flow) -> None:
    watched = WatchedFlow("p", flow, started(spark, tmp_path, EndlessBatch()), sides=None)

    *_, told = watched.stop()

    assert told == FlowEnded("f")
    assert watched.failure is None
