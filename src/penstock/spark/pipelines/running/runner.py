"""A pipeline at work: its flows started in order, watched, and stopped together.

Everything happens in the thread that calls ``run``: looking at queries, writing side outputs, telling
listeners. A flow that fails stops the others or not, as its ``onFailure`` says.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.spark.pipelines.graph import SideOutput, levels, side_outputs
from penstock.spark.pipelines.model import Flow, OnFailure, Pipeline, Trigger
from penstock.spark.pipelines.running.checkpoints import (
    Checkpoint,
    Offsets,
    checkpoint_in_spark,
    local_checkpoint,
)
from penstock.spark.pipelines.running.datasets import Datasets
from penstock.spark.pipelines.running.events import Event, FlowFailed, FlowStarted, Listener
from penstock.spark.pipelines.running.failures import FlowFailure, failure_of, side_failure_of
from penstock.spark.pipelines.running.flow_queries import configuration_of, start_flow
from penstock.spark.pipelines.running.pruning import narrowed_sources
from penstock.spark.pipelines.running.refreshing import Refreshing
from penstock.spark.pipelines.running.side_outputs import SideCursor, SideOutputs, begin_cursor
from penstock.spark.pipelines.running.storage import storage_of
from penstock.spark.pipelines.running.watched_flow import WatchedFlow, records_left

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.2
STOP_PATIENCE_SECONDS = 10.0
"""How long a stop waits for micro-batches that run; what is cut off is done again at the next start."""
_STOP_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    failures: tuple[FlowFailure, ...]
    was_stopped: bool


class Runner:
    """One run of a pipeline in one session."""

    def __init__(
        self,
        spark: "SparkSession",
        pipeline: Pipeline,
        *,
        topic_options: Mapping[str, str],
        listener: Listener,
        trigger: Trigger | None = None,
        only: Sequence[str] = (),
    ) -> None:
        self._spark = spark
        self._pipeline = pipeline
        self._topic_options = topic_options
        self._listener = listener
        self._trigger = trigger
        self._flows = [flow for flow in pipeline.flows.values() if not only or flow.name in only]
        self._storage = storage_of(pipeline)
        self._refreshing = Refreshing(now_ms=_now_ms())
        self._watched: list[WatchedFlow] = []
        self._failures: list[FlowFailure] = []
        self._must_stop = False

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
        """Run until all flows are over, one fails that stops the others, or ``is_stopped``."""
        sides = self._begin_sides()
        datasets = Datasets(
            self._spark,
            self._pipeline,
            self._storage,
            topic_options=self._topic_options,
            refreshing=self._refreshing,
            starts=_starts(cursor for _, _, cursor in sides.values()),
            narrowed=narrowed_sources(
                self._spark, self._pipeline, self._flows, topic_options=self._topic_options
            ),
        )
        try:
            self._work(datasets, sides, is_stopped)
        finally:
            self._stop_all()
            datasets.close()
            self._refreshing.close()
        return Outcome(failures=tuple(self._failures), was_stopped=is_stopped())

    def _work(self, datasets: Datasets, sides: "Sides", is_stopped: Callable[[], bool]) -> None:
        waiting = levels(self._pipeline, self._flows)
        pause = threading.Event()
        while not is_stopped() and not self._must_stop:
            if waiting and not self._is_ending():
                for flow in waiting.pop(0):
                    self._start(datasets, flow, sides.get(flow.name))
                continue
            if not waiting and all(watched.is_over for watched in self._watched):
                return
            self._look()
            self._refreshing.empty_due(_now_ms())
            pause.wait(POLL_SECONDS)

    def _is_ending(self) -> bool:
        """Whether a flow still runs that will end by itself, and that others may have to wait for."""
        return any(self._trigger_of(each.flow).ends for each in self._watched if not each.is_over)

    def _start(self, datasets: Datasets, flow: Flow, sides: "FlowSides | None") -> None:
        if self._must_stop:
            return
        datasets.forget_streams()
        outputs = None if sides is None else self._side_outputs(datasets, flow, sides)
        try:
            # What was left to do is done now: a query that runs makes Spark forget micro-batches.
            written = {} if outputs is None else outputs.catch_up({})
        except Exception as error:
            self._failed(flow, side_failure_of(flow.name, error))
            return
        try:
            query = start_flow(datasets, self._storage, flow, trigger=self._trigger_of(flow))
        except Exception as error:
            self._failed(flow, failure_of(flow.name, error, steps=[use.name for use in flow.query.steps]))
            return
        self._listener(FlowStarted(flow.name))
        self._tell(records_left(flow, written))
        self._watched.append(WatchedFlow(self._pipeline.name, flow, query, sides=outputs))

    def _look(self) -> None:
        for watched in self._watched:
            if not watched.is_over:
                self._tell(watched.look())
                if watched.failure is not None:
                    self._failed(watched.flow, watched.failure, is_told=True)

    def _stop_all(self) -> None:
        """Each between two micro-batches, or in the middle of one whose end does not come in time."""
        deadline = time.monotonic() + STOP_PATIENCE_SECONDS
        left = [watched for watched in self._watched if not watched.is_over]
        for watched in left:
            watched.ask_to_end()
        while left:
            is_late = time.monotonic() >= deadline
            ready = [watched for watched in left if is_late or not _is_busy(watched)]
            for watched in ready:
                self._stop(watched)
            left = [watched for watched in left if watched not in ready]
            if left and not ready:
                time.sleep(_STOP_POLL_SECONDS)

    def _stop(self, watched: WatchedFlow) -> None:
        """Stop one flow; whatever goes wrong with it, the others are still to be stopped."""
        try:
            self._tell(watched.stop())
        except Exception as error:
            self._failed(watched.flow, failure_of(watched.flow.name, error))
            return
        if watched.failure is not None:
            self._failed(watched.flow, watched.failure, is_told=True)

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            self._listener(event)

    def _failed(self, flow: Flow, failure: FlowFailure, *, is_told: bool = False) -> None:
        self._failures.append(failure)
        if not is_told:
            self._listener(FlowFailed(failure))
        self._must_stop |= self._pipeline.on_failure_of(flow) is OnFailure.STOP

    def _trigger_of(self, flow: Flow) -> Trigger:
        return self._trigger or self._pipeline.trigger_of(flow)

    def _begin_sides(self) -> "Sides":
        """The side outputs of the flows that have some, and where each of them goes on."""
        names = {flow.name for flow in self._flows}
        found: Sides = {}
        for name, outputs in side_outputs(self._pipeline).items():
            if outputs and name in names:
                checkpoint = self._checkpoint(name)
                path = self._storage.side_cursor(name)
                found[name] = (
                    outputs,
                    checkpoint,
                    begin_cursor(path, checkpoint, outputs, self._topic_options),
                )
        return found

    def _side_outputs(self, datasets: Datasets, flow: Flow, sides: "FlowSides") -> SideOutputs:
        outputs, checkpoint, cursor = sides
        path = self._storage.side_cursor(flow.name)
        return SideOutputs(
            datasets,
            outputs,
            checkpoint=checkpoint,
            cursor=cursor,
            cursor_path=path,
            settings=configuration_of(self._pipeline, flow),
        )

    def _checkpoint(self, flow: str) -> Checkpoint:
        location = self._storage.checkpoint(flow)
        return local_checkpoint(location) or checkpoint_in_spark(self._spark, location)


FlowSides = tuple[Sequence[SideOutput], Checkpoint, SideCursor]
Sides = dict[str, FlowSides]


def _is_busy(watched: WatchedFlow) -> bool:
    try:
        return watched.is_busy
    except Exception:  # Whoever stops it is told the same, as a failure of this flow.
        return False


def _starts(cursors: Iterable[SideCursor]) -> dict[str, Offsets]:
    """Where new streams begin; of a source that several flows begin with, the place of the first."""
    starts: dict[str, Offsets] = {}
    for cursor in cursors:
        if cursor.batch < 0:
            starts = {**cursor.starts, **starts}
    return starts


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
