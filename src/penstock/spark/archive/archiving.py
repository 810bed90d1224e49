"""Archiving: micro-batches into files, and each into one commit.

The steps of a batch, in this order: write files into a directory of their own (``parquet_files``), move
them to their hours, flush them, commit. A crash before the commit leaves files that nobody reads; after it
the batch is archived, and when Spark runs it again it finds every offset covered.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.model.errors import UsageError
from penstock.spark.archive.batch_commit import AlreadyArchivedError, Batch, Fence, batch_commit
from penstock.spark.archive.batch_offsets import read_batch_offsets, read_query_id
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.filters import without
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.parquet_files import (
    FileSettings,
    move_into_place,
    new_attempt,
    now_ms,
    write_files,
)
from penstock.spark.archive.paths import Attempt, batch_prefix
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.opening import open_store
from penstock.spark.archive.stores.store import Store
from penstock.spark.columns.schema import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_ATTEMPTS_MAX = 5
"""Each is one more writer that archived the same records meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveTrigger:
    """When micro-batches are made: everything that is there now, or every so often."""

    available_now: bool = False
    interval: str = "1 minute"

    def as_spark(self) -> dict[str, Any]:
        """The argument that Spark's ``trigger`` takes."""
        return {"availableNow": True} if self.available_now else {"processingTime": self.interval}


def archive_rows(
    rows: "DataFrame",
    path: str,
    *,
    checkpoint: str,
    settings: FileSettings | None = None,
    trigger: ArchiveTrigger | None = None,
    query_name: str = "",
) -> "StreamingQuery":
    """Start a query that archives a stream of records: all columns of a topic, ``headers`` too."""
    _check_columns(rows)
    spark = rows.sparkSession
    archiver = BatchArchiver(
        store=open_store(path, spark),
        checkpoint=open_store(checkpoint, spark),
        settings=settings or FileSettings(),
    )
    writer = rows.writeStream.foreachBatch(archiver.archive).option("checkpointLocation", checkpoint)
    named = writer.queryName(query_name) if query_name else writer
    return named.trigger(**(trigger or ArchiveTrigger()).as_spark()).start()


def _check_columns(rows: "DataFrame") -> None:
    missing = [name for name in COLUMNS if name not in rows.columns]
    if missing:
        raise UsageError(
            f"An archive keeps whole records, and these have no {' and no '.join(missing)}: read the topic "
            "with includeHeaders=true, and keep all columns."
        )


class BatchArchiver:
    """Archives one micro-batch after the other."""

    def __init__(self, *, store: Store, checkpoint: Store, settings: FileSettings) -> None:
        self._store = store
        self._checkpoint = checkpoint
        self._settings = settings
        self._manifest = Manifest(store)
        self._is_first = True

    def archive(self, rows: "DataFrame", batch_id: int) -> None:
        """Archive a micro-batch, but for what is archived of it already."""
        batch = Batch(
            query_id=read_query_id(self._checkpoint),
            batch_id=batch_id,
            offsets=read_batch_offsets(self._checkpoint, batch_id),
        )
        state = self._manifest.load()
        if not batch.is_archived(state):
            state = self._archive(rows, batch, fence=batch.fence(state))
        if self._is_first:
            self._delete_leftovers(batch, state)
            self._is_first = False

    def _archive(self, rows: "DataFrame", batch: Batch, *, fence: Fence) -> ArchiveState:
        for _ in range(_ATTEMPTS_MAX):
            attempt = new_attempt()
            try:
                return self._attempt(without(rows, fence), batch, attempt, fence=fence)
            except AlreadyArchivedError as error:
                fence = {**fence, **error.fence}
            finally:
                self._store.delete(attempt.staging)
        raise ArchiveError(
            f"Batch {batch.batch_id} was archived by others {_ATTEMPTS_MAX} times while it was written here: "
            "let one query archive a topic."
        )

    def _attempt(self, rows: "DataFrame", batch: Batch, attempt: Attempt, *, fence: Fence) -> ArchiveState:
        staged = write_files(rows, self._store, attempt, settings=self._settings)
        prefix = batch_prefix(batch.query_id, batch.batch_id)
        files = move_into_place(self._store, staged, attempt, prefix=prefix)
        try:
            return self._manifest.commit(
                partial(batch_commit, batch=batch, files=files, fence=fence, now_ms=now_ms())
            )
        except AlreadyArchivedError:
            for file in files:
                self._store.delete(file.path)
            raise

    def _delete_leftovers(self, batch: Batch, state: ArchiveState) -> None:
        """Delete files of earlier attempts at this batch, which was going on when its query ended."""
        prefix = batch_prefix(batch.query_id, batch.batch_id)
        for file in self._store.files(""):
            is_of_batch = file.path.rpartition("/")[2].startswith(prefix)
            if is_of_batch and file.path not in state.files and file.path not in state.removed:
                self._store.delete(file.path)
