"""A flow whose query runs: its reports as they come, its side outputs, its end."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.spark.pipelines.model import Flow
from penstock.spark.pipelines.reporting.progress import FlowProgress, progress_of
from penstock.spark.pipelines.running.events import (
    Event,
    FlowEnded,
    FlowFailed,
    FlowProgressed,
    RecordsLeft,
)
from penstock.spark.pipelines.running.failures import FlowFailure, failure_of, side_failure_of
from penstock.spark.pipelines.running.side_outputs import BatchSigns, SideOutputs
from penstock.spark.pipelines.steps.errand import Errand
from penstock.spark.pipelines.steps.step import RunningQuery

_SIGNS_MAX = 200
"""Of micro-batches; side outputs are seldom more than a few behind."""


class WatchedFlow:
    """One query, looked at again and again."""

    def __init__(self, pipeline: str, flow: Flow, query: RunningQuery, *, sides: SideOutputs | None) -> None:
        self.flow = flow
        self.failure: FlowFailure | None = None
        self.is_over = False
        self._pipeline = pipeline
        self._query = query
        self._sides = sides
        self._seen: tuple[int, str] = (-1, "")
        self._signs: dict[int, BatchSigns] = {}

    def look(self) -> Iterator[Event]:
        """What happened since the last look."""
        is_active = self._query.isActive
        for progress in self._new_reports():
            yield FlowProgressed(progress)
        yield from self._side_events(is_last=not is_active)
        if not is_active and not self.is_over:
            yield self._end(self._query.exception())

    def stop(self) -> Iterator[Event]:
        """Stop it, better when it is not busy: then it is between two micro-batches.

        What it has failed with until then is told; what fails because it is stopped is no failure.
        """
        error = self._query.exception()
        self._query.stop()
        for progress in self._new_reports():
            yield FlowProgressed(progress)
        yield from self._side_events(is_last=True)
        if not self.is_over:
            yield self._end(error)

    def ask_to_end(self) -> None:
        """Let work that is no query end as soon as it can."""
        if isinstance(self._query, Errand):
            self._query.ask_to_end()

    @property
    def is_busy(self) -> bool:
        """Whether it is in the middle of something, and should not be stopped yet."""
        return self._query.isActive and bool(self._query.status.get("isTriggerActive"))

    def _end(self, error: BaseException | None) -> Event:
        self.is_over = True
        if error is None:
            return FlowEnded(self.flow.name)
        steps = [use.name for use in self.flow.query.steps]
        self.failure = failure_of(self.flow.name, error, steps=steps)
        return FlowFailed(self.failure)

    def _side_events(self, *, is_last: bool) -> Iterator[Event]:
        if self._sides is None:
            return
        until = None if is_last else max(self._signs, default=-1)
        try:
            written = self._sides.catch_up(self._signs, until=until)
            if is_last:
                self._sides.save()
        except Exception as error:
            yield self._fail_beside(error)
            return
        yield from records_left(self.flow, written)

    def _fail_beside(self, error: Exception) -> Event:
        """A flow whose side outputs cannot be written does not go on without them; it resumes with them."""
        self._query.stop()
        self.is_over = True
        self.failure = side_failure_of(self.flow.name, error)
        return FlowFailed(self.failure)

    def _new_reports(self) -> Iterator[FlowProgress]:
        for report in self._fresh():
            place = (int(report["batchId"]), str(report["timestamp"]))
            if place <= self._seen:
                continue
            self._seen = place
            progress = progress_of(self._pipeline, self.flow.name, report)
            if not progress.is_idle:
                self._signs[progress.batch] = progress.signs
                self._signs.pop(progress.batch - _SIGNS_MAX, None)
            yield progress

    def _fresh(self) -> list[dict[str, Any]]:
        """All reports that Spark remembers, if its last one is new."""
        last = self._query.lastProgress
        if last is None or (int(last["batchId"]), str(last["timestamp"])) == self._seen:
            return []
        return [json.loads(report.json) for report in self._query.recentProgress]


def records_left(flow: Flow, written: Mapping[str, int]) -> Iterator[Event]:
    """What is told of records that went to the topics of side outputs."""
    for topic, count in written.items():
        if count:
            yield RecordsLeft(flow.name, topic, count)
