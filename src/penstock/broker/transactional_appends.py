"""Batches of transactions on their way into logs, some of which have to wait for the coordinator's word.

A batch whose transaction is open in the log, at the producer's epoch, is appended like any other. The first
of a transaction waits until the coordinator says that the partition is in it, or has added it (KIP-890; the
reasons are told in ``penstock.transactions.verification``). What the producer sends meanwhile waits behind
it, so that its batches keep their order and share the coordinator's word. Partitions do not wait for each
other, though all that wait for the same transaction are asked about together.

Batches wait in the buffers of their requests; together they may hold ``TRANSACTIONAL_BYTES_WAITING_MAX``.
When the broker stops leading their partition they are refused, and its guards are forgotten: the next leader
asks for itself.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.parked_produce import ProduceOutcome
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition
from penstock.model.limits import TRANSACTIONAL_BYTES_WAITING_MAX
from penstock.records.batch import BatchHeader, WritableBuffer
from penstock.transactions.verification import (
    Verifications,
    check_first_sequence,
    is_verify_only,
    produce_error,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class Question(NamedTuple):
    """What the coordinator is asked: whether partitions are in a transaction, or to add them to it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_verify_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionalBatch:
    """A batch for one partition, validated, and what its producer asked for."""

    partition: Partition
    batch: WritableBuffer
    header: BatchHeader
    outcome: ProduceOutcome
    acks: int
    produce_version: int

    @property
    def is_open_in_log(self) -> bool:
        """Whether the log vouches for the batch: it belongs to a transaction that is open there."""
        return is_open(self.partition, self.header.producer_id, self.header.producer_epoch)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Queue:
    """Batches of one producer for one partition that wait for the same word, in order of arrival."""

    partition: Partition
    verifications: "PartitionVerifications"
    guard: int
    batches: deque[TransactionalBatch] = field(default_factory=deque)

    @property
    def name(self) -> TopicPartition:
        return TopicPartition(self.partition.topic, self.partition.index)

    @property
    def is_led(self) -> bool:
        """Whether this broker leads the partition, and nobody has since the first batch came."""
        partition = self.partition
        return partition.is_leader and partition.leader_epoch == self.verifications.leader_epoch


class PartitionVerifications(Verifications):
    """The guards of a partition in one leader epoch, and who waits under each of them."""

    __slots__ = ("leader_epoch", "queues")

    def __init__(self, leader_epoch: int) -> None:
        super().__init__()
        self.leader_epoch = leader_epoch
        self.queues: dict[int, _Queue] = {}


def verifications_of(partition: Partition) -> PartitionVerifications:
    """Those of a partition; most partitions never see a transaction and have none."""
    known = partition.verifications
    if known is None or known.leader_epoch != partition.leader_epoch:
        known = partition.verifications = PartitionVerifications(partition.leader_epoch)
    return known


def is_open(partition: Partition, producer_id: int, producer_epoch: int) -> bool:
    """Whether a transaction of the producer is open in the partition's log, at this epoch."""
    producer = partition.log.producers.get(producer_id)
    return (
        producer is not None
        and producer.epoch == producer_epoch
        and producer.transaction_first_offset is not None
    )


def is_word_needed(broker: "Broker", *, is_verify_only: bool) -> bool:
    """The second protocol leaves adding partitions to us; in the first one may do without asking."""
    return not is_verify_only or broker.config.boolean("transaction.partition.verification.enable")


class TransactionalAppends:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        #: Who begins to wait in this turn of the loop.
        self._unasked: dict[Question, list[_Queue]] = {}
        #: Everybody who waits, asked about or not.
        self._waiting: dict[_Queue, None] = {}
        self._waiting_bytes = 0

    def submit(self, transactional_id: str | None, entry: TransactionalBatch) -> None:
        """Append the batch now, or when the coordinator agrees; raises what keeps it out at once."""
        if not transactional_id:
            raise ApiError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "The batch belongs to a transaction, and the request names none.",
            )
        is_only_asked = is_verify_only(entry.produce_version)
        if entry.is_open_in_log or not is_word_needed(self._broker, is_verify_only=is_only_asked):
            self._append(entry)
            return
        header = entry.header
        verifications = verifications_of(entry.partition)
        guard = verifications.begin(header.producer_id, header.producer_epoch, sequence=header.base_sequence)
        self._check_room(entry)
        queue = verifications.queues.get(guard)
        if queue is None:
            queue = _Queue(partition=entry.partition, verifications=verifications, guard=guard)
            verifications.queues[guard] = queue
            self._waiting[queue] = None
            self._ask_later(
                Question(transactional_id, header.producer_id, header.producer_epoch, is_only_asked),
                queue,
            )
        queue.batches.append(entry)
        self._waiting_bytes += len(entry.batch)

    def follow(self) -> None:
        """Leaders have changed, perhaps: refuse what waits for partitions that this broker leads no more."""
        for queue in list(self._waiting):
            if not queue.is_led:
                self._end(queue, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _check_room(self, entry: TransactionalBatch) -> None:
        if self._waiting_bytes + len(entry.batch) > TRANSACTIONAL_BYTES_WAITING_MAX:
            raise ApiError(
                ErrorCode.NOT_ENOUGH_REPLICAS, "Too many batches wait for the transaction coordinator."
            )

    def _ask_later(self, question: Question, queue: _Queue) -> None:
        """At the end of this turn, together with other partitions of the same transaction."""
        if not self._unasked:
            self._broker.loop.call_soon(self._ask_all)
        self._unasked.setdefault(question, []).append(queue)

    def _ask_all(self) -> None:
        unasked, self._unasked = self._unasked, {}
        for question, queues in unasked.items():
            name = f"verify {question.transactional_id}"
            self._broker.tasks.start(self._ask(question, queues), name=name)

    async def _ask(self, question: Question, queues: list[_Queue]) -> None:
        words: Mapping[TopicPartition, ErrorCode] = {}
        try:
            words = await self._broker.transactions.word_on(question, [queue.name for queue in queues])
        finally:
            for queue in queues:
                self._end(queue, words.get(queue.name, ErrorCode.COORDINATOR_NOT_AVAILABLE))

    def _end(self, queue: _Queue, word: ErrorCode) -> None:
        """The word is here: append all that waits for it, or refuse all of it."""
        if queue not in self._waiting:
            return  # Refused already.
        del self._waiting[queue]
        queue.verifications.queues.pop(queue.guard, None)
        for entry in queue.batches:
            self._waiting_bytes -= len(entry.batch)
            try:
                if word is not ErrorCode.NONE:
                    raise ApiError(produce_error(word, entry.produce_version))
                self._append_verified(entry, queue)
            except ApiError as error:
                entry.outcome.fail(error)
            else:
                entry.outcome.await_acks(entry.acks)

    def _append_verified(self, entry: TransactionalBatch, queue: _Queue) -> None:
        """Much may have happened since the batch came."""
        partition, header = entry.partition, entry.header
        partition.check_is_here()
        if not queue.is_led:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not entry.is_open_in_log:
            queue.verifications.check(
                header.producer_id,
                header.producer_epoch,
                queue.guard,
                produce_version=entry.produce_version,
                sequence=header.base_sequence,
            )
        self._append(entry)

    def _append(self, entry: TransactionalBatch) -> None:
        partition, header = entry.partition, entry.header
        producer_id = header.producer_id
        check_first_sequence(
            producer_id,
            header.base_sequence,
            is_known=partition.log.producers.get(producer_id) is not None,
            produce_version=entry.produce_version,
        )
        result = partition.append(entry.batch, header, self._broker.clock.wall_ms())
        self._broker.server.traffic.took_in(partition.topic, result, len(entry.batch))
        entry.outcome.result = result
        entry.outcome.partition = partition
        if partition.verifications is not None and entry.is_open_in_log:
            partition.verifications.end(producer_id)
