"""What Spark calls to write exactly once."""

import secrets
from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.reading.worker_process import settle
from penstock.spark.writing.exact_abort import abort_batch
from penstock.spark.writing.exact_commit import commit_batch
from penstock.spark.writing.exact_task import write_exactly
from penstock.spark.writing.sinks import Sink, application_sink, nameless_sink
from penstock.spark.writing.task_place import TaskPlace, stream_place, task_number


class ExactBatchWriter(DataSourceArrowWriter):
    """Writes a batch. It is made once, and sent from there to the tasks and to the commit."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options
        self._run = secrets.token_hex(16)
        self._sink = _batch_sink(options, self._run)
        self._batch = 0 if options.txn is None else options.txn.version

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Write the rows of one task."""
        settle()
        place = TaskPlace(
            sink=self._sink,
            run=self._run,
            batch=self._batch,
            task=task_number(),
            skips_older=True,
        )
        return write_exactly(self._options, place, iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Have everything seen that the tasks wrote."""
        commit_batch(self._options, messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Have nothing seen of it."""
        abort_batch(self._options, messages, batch=self._batch, own=(self._sink, self._run))


class ExactStreamWriter(DataSourceStreamArrowWriter):
    """Writes the micro-batches of a stream. Tasks and commits each get one of their own."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options
        self._fallback_run = secrets.token_hex(16)

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Write the rows of one task."""
        settle()
        place = stream_place(self._options.transactional_id, self._fallback_run)
        return write_exactly(self._options, place, iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Have everything seen that the tasks wrote."""
        settle()
        commit_batch(self._options, messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Have nothing seen of it, as far as tasks have told of what they wrote."""
        abort_batch(self._options, messages, batch=batchId)


def _batch_sink(options: SinkOptions, token: str) -> Sink:
    if options.txn is None:
        return nameless_sink(token)
    return application_sink(options.txn.app_id, options.topic)
