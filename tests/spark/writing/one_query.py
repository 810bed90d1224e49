"""A streaming query without Spark: tasks and commits called as Spark calls them, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.spark.writing.arrow_rows import arrow_rows
from tests.spark.writing.crashing import Life, mortal

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.exact_abort import abort_batch
from penstock.spark.writing.exact_commit import commit_batch
from penstock.spark.writing.exact_task import write_exactly
from penstock.spark.writing.messages import ExactMessage
from penstock.spark.writing.sinks import Sink
from penstock.spark.writing.task_place import TaskPlace


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a query, which writes values that say where they come from."""

    options: SinkOptions
    sink: Sink
    name: str
    task_count: int = 2
    rows_per_task: int = 3
    skips_older: bool = False

    def mortal(self, life: Life) -> "Run":
        """The same run in a process that dies."""
        return replace(self, options=replace(self.options, client=mortal(self.options.client, life)))

    def restarted(self, name: str) -> "Run":
        """Another run of the same query."""
        return replace(self, name=name)

    def write(self, batch: int) -> None:
        """A whole micro-batch."""
        self.commit(self.write_tasks(batch))

    def write_tasks(self, batch: int) -> list[ExactMessage]:
        """What all tasks have to tell."""
        return [self.write_task(batch, task) for task in range(self.task_count)]

    def write_task(self, batch: int, task: int) -> ExactMessage:
        place = TaskPlace(sink=self.sink, run=self.name, batch=batch, task=task, skips_older=self.skips_older)
        return write_exactly(self.options, place, [self.rows(batch, task)])

    def commit(self, messages: list[ExactMessage]) -> None:
        commit_batch(self.options, messages)

    def abort(self, messages: Sequence[ExactMessage | None], batch: int = 0) -> None:
        abort_batch(self.options, messages, batch=batch, own=(self.sink, self.name))

    def rows(self, batch: int, task: int) -> Any:
        return arrow_rows(value=self.values(batch, task))

    def values(self, batch: int, task: int) -> list[str]:
        return [f"{self.sink.name}/{batch}/{task}/{index}" for index in range(self.rows_per_task)]

    def expected(self, *batches: int) -> list[bytes]:
        """All values of these batches, sorted."""
        return sorted(
            value.encode()
            for batch in batches
            for task in range(self.task_count)
            for value in self.values(batch, task)
        )
