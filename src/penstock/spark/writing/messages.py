"""What a task tells the driver when it has written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pyspark.sql.datasource import WriterCommitMessage

from penstock.spark.writing.ledger import Holder, Part
from penstock.spark.writing.sinks import Sink

Messages = Sequence[WriterCommitMessage | None]
"""Of all tasks of a batch, by their numbers; None for those that have not ended well."""


@dataclass
class PlainMessage(WriterCommitMessage):
    """All rows are on their topics already."""

    record_count: int


@dataclass
class ExactMessage(WriterCommitMessage):
    """What the task found, and what it left open."""

    sink: Sink
    batch: int
    holder: Holder | None
    """Whose the sink was when the task looked; None if there were no rows, so that it did not."""
    part: Part | None = None
    """The transaction that waits for the decision; None if there was nothing to write."""
    record_count: int = 0
    skipped_count: int = 0
    """Rows that were read and not written, since the batch was decided before."""


def exact_messages(messages: Messages) -> list[ExactMessage]:
    """Those of the tasks that have ended well."""
    return [cast("ExactMessage", message) for message in messages if message is not None]
