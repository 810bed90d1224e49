"""A task that writes exactly once: into a transaction, which it leaves open for the driver to decide on.

Before the first row it looks at the ledger. A batch that was decided before is not written again: the task
has its part committed, should nobody have done that yet, and reads its rows without writing them, since what
is upstream of a sink wants to be read, and the driver wants to know how many there are. Only a part that was
decided and is lost is written anew.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.conversations import cluster_for, coordinators_for
from penstock.spark.writing.errors import ExactlyOnceError, LostPartError
from penstock.spark.writing.ledger import Ledger, Part
from penstock.spark.writing.ledger_store import LedgerStore
from penstock.spark.writing.messages import ExactMessage
from penstock.spark.writing.parts import BatchParts
from penstock.spark.writing.record_producer import RecordProducer
from penstock.spark.writing.rounds import rounds
from penstock.spark.writing.task_place import TaskPlace
from penstock.wire_client.errors import WireClientError
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.transactions import Transaction, add_partitions, own

_log = logging.getLogger(__name__)


def write_exactly(options: SinkOptions, place: TaskPlace, batches: Iterable[Any]) -> ExactMessage:
    """Write all rows into a transaction; they are acknowledged when this returns, but not committed."""
    remaining = rounds(batches)
    first = next(remaining, None)
    if first is None:
        return ExactMessage(sink=place.sink, batch=place.batch, holder=None)
    with coordinators_for(options) as coordinators:
        ledger = LedgerStore(coordinators, place.sink).held_by(
            place.run, lambda found: _completed(coordinators, place, found)
        )
        message = ExactMessage(sink=place.sink, batch=place.batch, holder=ledger.holder)
        if _is_written(coordinators, place, ledger):
            message.skipped_count = sum(batch.num_rows for batch in _chained(first, remaining))
            return message
        writing = _Writing(options, place, coordinators)
        message.part, message.record_count = writing.write(_chained(first, remaining))
        return message


def _completed(coordinators: KnownCoordinators, place: TaskPlace, ledger: Ledger) -> Ledger:
    """The ledger when the batch before this one is committed as it was decided.

    That is so already, but where the run that decided it died at once, and its repetition had no rows: then
    no task has looked at it since. The first one that writes again takes a transactional id, which would
    abort what was decided.
    """
    if ledger.batch is None or ledger.batch >= place.batch or not ledger.parts:
        return ledger
    lost = BatchParts(coordinators, place.sink, ledger.batch).complete(ledger.parts)
    if lost:
        raise LostPartError(
            f"Batch {ledger.batch} of sink {place.sink.name!r} was decided, but {len(lost)} of its "
            f"{len(ledger.parts)} transactions were aborted before that was carried out, by an outage that "
            f"was longer than transaction.timeout.ms. Now comes batch {place.batch}, so that nobody writes "
            "the missing rows any more. To go on without them, give another transactionalId or txnAppId."
        )
    return replace(ledger, parts=())


def _is_written(coordinators: KnownCoordinators, place: TaskPlace, ledger: Ledger) -> bool:
    """Whether this task's part of the batch is there, or goes there now because that was decided before."""
    if ledger.batch is None or ledger.batch < place.batch:
        return False
    if ledger.batch > place.batch:
        return _is_older(place, ledger.batch)
    part = ledger.part_of(place.task)
    if part is None:
        return True
    if BatchParts(coordinators, place.sink, place.batch).commit([part]):
        _log.warning(
            "Batch %d of sink %r was decided, but the transaction of task %d was aborted before it was "
            "committed: an outage was longer than transaction.timeout.ms. The task writes its rows again, "
            "which is exact if they are the same rows as before.",
            *(place.batch, place.sink.name, place.task),
        )
        return False
    return True


def _is_older(place: TaskPlace, newest: int) -> bool:
    if place.skips_older:
        _log.warning(
            "Sink %r has batch %d already: the rows of batch %d, which is older, are not written. Where they "
            "are new ones, since the numbers began anew, give another txnAppId.",
            *(place.sink.name, newest, place.batch),
        )
        return True
    raise ExactlyOnceError(
        f"Sink {place.sink.name!r} has batch {newest} already, and this is batch {place.batch}: the "
        "checkpoint is older than the sink, or another one. To write these rows again, give another "
        "transactionalId."
    )


def _chained(first: Any, others: Iterable[Any]) -> Iterator[Any]:
    yield first
    yield from others


class _Writing:
    """One attempt to write one part."""

    def __init__(self, options: SinkOptions, place: TaskPlace, coordinators: KnownCoordinators) -> None:
        self._options = options
        self._place = place
        self._coordinators = coordinators
        self._parts = BatchParts(coordinators, place.sink, place.batch)

    def write(self, batches: Iterator[Any]) -> tuple[Part, int]:
        """Whoever wrote this part before is fenced, and what it left open aborted."""
        transaction = own(
            self._coordinators,
            self._place.sink.task_id(self._place.task),
            timeout_ms=self._options.transaction_timeout_ms,
        )
        part = Part(task=self._place.task, producer=transaction.producer)
        try:
            count = self._produce(transaction, batches)
            self._parts.mark(part)
        except Exception:
            self._give_up(part)
            raise
        return part, count

    def _produce(self, transaction: Transaction, batches: Iterator[Any]) -> int:
        # Answers to batches come on connections of their own, so that coordinators can be asked meanwhile.
        with cluster_for(self._options) as cluster:
            producer = RecordProducer(
                cluster,
                self._options,
                transaction.producer,
                transactional_id=transaction.transactional_id,
                announce=lambda partitions: add_partitions(self._coordinators, transaction, partitions),
            )
            for batch in batches:
                producer.produce(batch)
            producer.flush()
            return producer.record_count

    def _give_up(self, part: Part) -> None:
        """So that readers need not wait for the transaction's timeout."""
        try:
            self._parts.abort([part])
        except WireClientError as error:
            _log.warning("The transaction of task %d stays open until its timeout: %s", part.task, error)
