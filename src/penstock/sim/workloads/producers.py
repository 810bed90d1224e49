"""Producers outside of transactions: one that never retries, and one that does and must not be doubled."""

from dataclasses import dataclass
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Ending, Function, Operation
from penstock.sim.workloads.producing import (
    ALL_REPLICAS,
    Identity,
    ask_identity,
    plain_batch,
    produce_request,
    produced,
    sequenced_batch,
)
from penstock.sim.workloads.verdicts import NOT_DONE, end_unanswered, end_with_code
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings

PRODUCE_VERSION = 11
DELIVERY_SECONDS = 12.0
"""After so long an idempotent producer gives a batch up, and begins anew under another id."""

STRANGE_SEQUENCE = "sequence refused to the next in line"
"""The error of a batch that follows the last acknowledged one, and is refused for its sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    """What a producer does."""

    topic: str
    partition_count: int
    #: Whether it retries under an identity; otherwise it sends everything once.
    is_idempotent: bool
    pause_seconds: float = 0.1
    records_max: int = 3
    in_flight_max: int = 1
    #: Of a producer without an identity: whose disks its batches are to be on.
    acks: int = ALL_REPLICAS


class PlainProducer(Workload):
    """Sends each batch once. What was not answered may be there or not."""

    def __init__(self, around: WorkloadSurroundings, settings: ProducerSettings) -> None:
        super().__init__(around)
        self._settings = settings

    async def run(self) -> None:
        """Send until it is over."""
        while not self.is_over:
            await self.pause(self._settings.pause_seconds)
            await self._send()

    async def _send(self) -> None:
        topic, partition = self._settings.topic, self.draw.randrange(self._settings.partition_count)
        values = self.new_values(self.draw.randint(1, self._settings.records_max))
        acks = self._settings.acks
        operation = self.history.begin(
            self.process,
            Function.SEND,
            f"{topic}-{partition}",
            value=values,
            is_weak=acks != ALL_REPLICAS,
        )
        request = produce_request(topic, partition, plain_batch(values), acks=acks)
        try:
            code, offset = produced(await self.client.ask_leader(topic, partition, request, PRODUCE_VERSION))
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            return
        operation.offset = offset
        end_with_code(self.history, operation, code)
        if operation.is_ok:
            self.on_progress()
        else:
            self.client.forget_leader(topic, partition)


@dataclass(slots=True, kw_only=True)
class _Batch:
    operation: Operation
    sequence: int
    content: bytes


class IdempotentProducer(Workload):
    """Sends several batches without waiting, and each again until it is answered."""

    def __init__(self, around: WorkloadSurroundings, settings: ProducerSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._identity: Identity | None = None
        #: Partitions that have batches of this identity.
        self._known: dict[tuple[str, int], None] = {}

    async def run(self) -> None:
        """Send until it is over."""
        while not self.is_over:
            await self.pause(self._settings.pause_seconds)
            if self._identity is None:
                await self._begin()
            else:
                await self._deliver(self._identity)

    async def _begin(self) -> None:
        try:
            answer = await ask_identity(self.client, None, 60_000)
        except Unanswered:
            return
        self._identity = answer if isinstance(answer, Identity) else None
        self._known = {}

    async def _deliver(self, identity: Identity) -> None:
        """Bring some batches to a partition, in order."""
        settings = self._settings
        partition = self.draw.randrange(settings.partition_count)
        # Brokers, Kafka's as ours, take any sequence from a producer they do not know: the first one, if the
        # one before it was refused. So nothing follows a first batch before it is there.
        is_known = (settings.topic, partition) in self._known
        count = self.draw.randint(1, settings.in_flight_max) if is_known else 1
        waiting = [self._new_batch(identity, partition) for _ in range(count)]
        deadline = self.client.loop.time() + DELIVERY_SECONDS
        while waiting and self.client.loop.time() < deadline:
            waiting = await self._attempt(partition, waiting)
            if waiting and self._identity is None:
                break
            if waiting:
                self.client.forget_leader(settings.topic, partition)
                await self.pause(0.2)
        for batch in waiting:
            self.history.end(batch.operation, Ending.INFO, batch.operation.error or "given up")
            self._identity = None

    def _new_batch(self, identity: Identity, partition: int) -> _Batch:
        topic = self._settings.topic
        values = self.new_values(self.draw.randint(1, self._settings.records_max))
        operation = self.history.begin(self.process, Function.SEND, f"{topic}-{partition}", value=values)
        sequence = identity.take_sequence(topic, partition, len(values))
        content = bytes(sequenced_batch(values, identity, sequence))
        return _Batch(operation=operation, sequence=sequence, content=content)

    async def _attempt(self, partition: int, waiting: list[_Batch]) -> list[_Batch]:
        """Send all once more; returns those that are still not known to be there."""
        topic = self._settings.topic
        try:
            connection = await self.client.leader_connection(topic, partition)
        except (Unanswered, TimeoutError):
            return waiting
        answers = [
            connection.send(produce_request(topic, partition, bytearray(batch.content)), PRODUCE_VERSION)
            for batch in waiting
        ]
        left: list[_Batch] = []
        try:
            for batch, answer in zip(waiting, answers, strict=True):
                if not self._settled(batch, await self.client.wait_for(answer), is_next=not left):
                    left.append(batch)
                else:
                    self._known[topic, partition] = None
        except Unanswered:
            # Whoever hangs up has no use for the answers that would have come later.
            left = [batch for batch in waiting if not batch.operation.is_ok]
        if left:
            connection.close()
            for answer in answers:
                answer.cancel()
        return left

    def _settled(self, batch: _Batch, answer: Any, *, is_next: bool) -> bool:
        code, offset = produced(answer)
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            batch.operation.offset = offset
            self.history.end(batch.operation, Ending.OK)
            self.on_progress()
            return True
        if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and is_next:
            batch.operation.error = STRANGE_SEQUENCE
            self._identity = None
        elif ErrorCode(code) in NOT_DONE or code == ErrorCode.UNKNOWN_PRODUCER_ID:
            batch.operation.error = ErrorCode(code).name
            self._identity = None
        return False
