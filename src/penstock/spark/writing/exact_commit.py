"""The driver's half of writing exactly once: decide, then have every transaction end as decided.

The decision is the one moment that counts. Before it nothing of the batch will ever be seen; after it all of
it will, whoever dies. What comes after a decision can be repeated by anybody who reads it.
"""

import logging
from collections.abc import Sequence
from typing import cast

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.conversations import coordinators_for
from penstock.spark.writing.errors import ExactlyOnceError, LostPartError, StaleRunError
from penstock.spark.writing.ledger import Holder, Ledger, Part
from penstock.spark.writing.ledger_store import LedgerStore
from penstock.spark.writing.messages import ExactMessage, Messages, exact_messages
from penstock.spark.writing.parts import BatchParts
from penstock.spark.writing.sinks import Sink
from penstock.wire_client.known_coordinators import KnownCoordinators

_START_AGAIN = (
    "A stream writes the missing part when it is started again; a batch does when it is repeated with the "
    "same txnAppId and txnVersion."
)
_NO_TASK = (
    "The rows of the batch are now with other tasks than before, so that nobody can write the missing part "
    "alone. To have the whole batch written again, those of its rows a second time that are there, give "
    "another transactionalId or txnAppId."
)

_log = logging.getLogger(__name__)


def commit_batch(options: SinkOptions, messages: Messages) -> None:
    """Commit what the tasks have written; returns when every transaction of the batch is committed."""
    looked = [message for message in exact_messages(messages) if message.holder is not None]
    if not looked:
        return  # No task had a row.
    with coordinators_for(options) as coordinators:
        _Commit(coordinators, looked, task_count=len(messages)).run()


class _Commit:
    """One commit of one batch."""

    def __init__(
        self, coordinators: KnownCoordinators, messages: Sequence[ExactMessage], *, task_count: int
    ) -> None:
        self._sink, self._batch = messages[0].sink, messages[0].batch
        self._store = LedgerStore(coordinators, self._sink)
        self._parts = BatchParts(coordinators, self._sink, self._batch)
        self._holder = _holder(messages, self._sink)
        self._written = [message.part for message in messages if message.part is not None]
        self._record_count = sum(message.record_count + message.skipped_count for message in messages)
        self._task_count = task_count

    def run(self) -> None:
        ledger = self._store.require(self._holder)
        kept = self._kept(ledger)
        if self._written:
            self._check_open()
            count = ledger.record_count if ledger.has_decided(self._batch) else self._record_count
            parts = tuple(sorted((*kept, *self._written)))
            self._store.decide(self._holder, self._batch, parts, record_count=count)
            self._require_none_lost(self._parts.commit(self._written), _START_AGAIN)

    def _kept(self, ledger: Ledger) -> list[Part]:
        """The parts that an earlier decision on this batch has committed, now at the latest."""
        if not ledger.has_decided(self._batch):
            return []
        again = {part.task for part in self._written}
        kept = [part for part in ledger.parts if part.task not in again]
        self._require_none_lost(self._parts.commit(kept), _NO_TASK)
        self._require_no_more_rows(ledger.record_count)
        return kept

    def _require_no_more_rows(self, decided_count: int) -> None:
        """Rows that the decided batch does not have would never be written, and nobody would know.

        There may be fewer: what has expired meanwhile, and was written in time.
        """
        if self._record_count < decided_count:
            _log.warning(
                "Batch %d of sink %r was written with %d rows, and comes again with %d: it stays as it is. "
                "Unless rows have expired that were written in time, the query does not repeat itself.",
                *(self._batch, self._sink.name, decided_count, self._record_count),
            )
        if self._record_count > decided_count:
            raise ExactlyOnceError(
                f"Batch {self._batch} of sink {self._sink.name!r} was written with {decided_count} rows, and "
                f"comes again with {self._record_count}: it is another batch of the same number, and what is "
                "new in it would be lost. Either the checkpoint is an older copy or was deleted: go on from "
                "the one that has this batch. Or two writes share a txnAppId and txnVersion: give each its "
                "own. Or the query does not give the same rows twice, for example by rand() or a table that "
                "has changed. Another transactionalId or txnAppId has all of these rows written, those a "
                "second time that are there."
            )

    def _check_open(self) -> None:
        closed = self._parts.not_open(self._written, task_count=self._task_count)
        if closed:
            raise ExactlyOnceError(
                f"Batch {self._batch} of sink {self._sink.name!r} cannot be committed: {_tasks(closed)} no "
                "longer open. Either the batch took longer than transaction.timeout.ms: make it smaller, "
                "for example with maxOffsetsPerTrigger, or allow more time with "
                "transaction.max.timeout.ms of the brokers and kafka.transaction.timeout.ms. Or a task was "
                "run twice at the same time: leave spark.speculation off."
            )

    def _require_none_lost(self, lost: Sequence[Part], remedy: str) -> None:
        if lost:
            raise LostPartError(
                f"Batch {self._batch} of sink {self._sink.name!r} was decided, but {_tasks(lost)} aborted "
                f"before that was carried out. {remedy}"
            )


def _holder(messages: Sequence[ExactMessage], sink: Sink) -> Holder:
    """All tasks must have looked in the same tenure, or one of them may have missed somebody's decision."""
    holders = {message.holder for message in messages}
    if len(holders) > 1:
        raise StaleRunError(
            f"Sink {sink.name!r} was taken over by another run while this batch was written. Is the query "
            "running twice?"
        )
    return cast("Holder", holders.pop())


def _tasks(parts: Sequence[Part]) -> str:
    numbers = ", ".join(str(part.task) for part in parts)
    return (
        f"the transactions of tasks {numbers} were"
        if len(parts) > 1
        else f"the transaction of task {numbers} was"
    )
