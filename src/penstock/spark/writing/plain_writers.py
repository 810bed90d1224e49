"""What Spark calls to write at least once. Tasks do everything; there is nothing to commit or to abort."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.reading.worker_process import settle
from penstock.spark.writing.plain_task import write_plainly


class PlainBatchWriter(DataSourceArrowWriter):
    """Writes a batch."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Write the rows of one task."""
        settle()
        return write_plainly(self._options, iterator)


class PlainStreamWriter(DataSourceStreamArrowWriter):
    """Writes the micro-batches of a stream."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Write the rows of one task."""
        settle()
        return write_plainly(self._options, iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """The rows are on their topics already."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """What was written stays: the batch is written again, which is what at least once means."""
