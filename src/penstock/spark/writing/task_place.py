"""Where a task stands: which part of which batch of whose run it writes."""

from dataclasses import dataclass

from pyspark import TaskContext

from penstock.model.errors import InvariantError
from penstock.spark.writing.sinks import Sink, stream_sink

_BATCH = "streaming.sql.batchId"
_QUERY = "sql.streaming.queryId"
_RUN = "spark.jobGroup.id"
"""A streaming query runs all its jobs in a group that is named after the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlace:
    """Everything that distinguishes this attempt to write from others."""

    sink: Sink
    run: str
    batch: int
    task: int
    skips_older: bool = False
    """Whether a batch before the newest one is taken for written; otherwise that is a mistake."""


def task_number() -> int:
    """The number of the task that this process runs: the partition of the rows."""
    return _context().partitionId()


def stream_place(transactional_id: str | None, fallback_run: str) -> TaskPlace:
    """The place of a task of a streaming query, as Spark tells it."""
    context = _context()
    batch, query = context.getLocalProperty(_BATCH), context.getLocalProperty(_QUERY)
    if batch is None or query is None:
        raise InvariantError("Spark did not say which batch of which query is being written")
    return TaskPlace(
        sink=stream_sink(transactional_id, query),
        run=context.getLocalProperty(_RUN) or fallback_run,
        batch=int(batch),
        task=context.partitionId(),
    )


def _context() -> TaskContext:
    context = TaskContext.get()
    if context is None:
        raise InvariantError("rows can only be written by a task of Spark")
    return context
