"""One transaction at a time, for producers and copiers: sends, offsets, the end, and the doubt in between.

Two generations of the protocol are spoken. The older one announces every partition before it is written to
and keeps its epoch; the newer one (KIP-890) leaves the announcing to brokers and gets a new epoch with each
end. A transaction that ran into anything unclear is aborted; when even that stays unclear, the producer
begins anew, which ends whatever was left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Ending, Function, Operation
from penstock.sim.workloads.producing import (
    TRANSACTION,
    Identity,
    ask_identity,
    produce_request,
    produced,
    sequenced_batch,
)
from penstock.sim.workloads.verdicts import NOT_DONE, RETRIABLE
from penstock.sim.workloads.workload import Workload
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.schema import Struct

PRODUCE_VERSIONS = (11, 12)
END_VERSIONS = (4, 5)
ADD_PARTITIONS_VERSION = 3
ATTEMPTS_MAX = 12
RETRY_SECONDS = 0.15

COMMIT, ABORT = "commit", "abort"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """How a producer uses transactions."""

    transactional_id: str
    timeout_ms: int
    #: Whether brokers announce partitions by themselves (KIP-890).
    is_modern: bool


class TransactionLost(Exception):
    """This transaction cannot be committed any more."""


class TransactionEnds:
    """A transactional id in the hands of one process."""

    def __init__(self, workload: Workload, settings: TransactionSettings) -> None:
        self._workload = workload
        self._client = workload.client
        self._history = workload.history
        self._settings = settings
        self._identity: Identity | None = None
        self._announced: dict[tuple[str, int], None] = {}
        self._has_begun = False
        self._count = 0
        #: The transaction under way, in the history.
        self.name = ""

    @property
    def identity(self) -> Identity:
        """Who it is; only after ``begin``."""
        assert self._identity is not None
        return self._identity

    @property
    def is_modern(self) -> bool:
        """Which generation of the protocol it speaks."""
        return self._settings.is_modern

    async def prepare(self) -> bool:
        """Have an identity, which ends whatever an earlier one left open; False when nobody gives one now."""
        if self._identity is not None:
            return True
        settings = self._settings
        try:
            answer = await ask_identity(self._client, settings.transactional_id, settings.timeout_ms)
        except Unanswered:
            answer = ErrorCode.COORDINATOR_NOT_AVAILABLE
        if isinstance(answer, Identity):
            self._identity = answer
            return True
        self._client.forget_coordinator(TRANSACTION, settings.transactional_id)
        return False

    async def begin(self) -> bool:
        """Open the next transaction; False when nobody gives it an identity now."""
        if not await self.prepare():
            return False
        self._announced = {}
        self._has_begun = False
        self._count += 1
        self.name = f"{self._workload.process}/{self._count}"
        return True

    async def send(self, topic: str, partition: int, values: Sequence[str]) -> None:
        """Write one batch as part of the transaction."""
        operation = self._history.begin(
            self._workload.process,
            Function.SEND,
            f"{topic}-{partition}",
            value=tuple(values),
            context=self.name,
        )
        try:
            await self._announce(topic, partition)
        except TransactionLost:
            self._history.end(operation, Ending.FAIL, "not announced")
            raise
        self._has_begun = True
        sequence = self.identity.take_sequence(topic, partition, len(values))
        content = bytes(sequenced_batch(values, self.identity, sequence, is_transactional=True))
        await self._deliver(operation, topic, partition, content)

    async def ask(self, request: Struct, version: int, kind: int, key: str) -> Any:
        """Ask a coordinator until it answers for good; the caller looks at the code itself."""
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._client.ask_coordinator(kind, key, request, version)
            except Unanswered:
                self._client.forget_coordinator(kind, key)
                await self._workload.pause(RETRY_SECONDS)
        raise TransactionLost("no answer")

    def mark_begun(self) -> None:
        """Something other than a batch has become part of the transaction."""
        self._has_begun = True

    async def end(self, decision: str) -> bool:
        """Commit or abort; True only if a commit is known to have happened."""
        if not self._has_begun:
            return False
        operation = self._history.begin(self._workload.process, Function.END, self.name, value=(decision,))
        code = await self._ask_end(decision, operation)
        if code == ErrorCode.NONE:
            self._history.end(operation, Ending.OK)
            if decision == COMMIT:
                self._workload.on_progress()
            return decision == COMMIT
        self._identity = None
        return False

    def abandon(self) -> None:
        """Trust nothing about this identity any more."""
        self._identity = None

    async def _announce(self, topic: str, partition: int) -> None:
        if self._settings.is_modern or (topic, partition) in self._announced:
            return
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._settings.transactional_id,
            v3_and_below_producer_id=self.identity.producer_id,
            v3_and_below_producer_epoch=self.identity.epoch,
            v3_and_below_topics=(AddPartitionsToTxnTopic(name=topic, partitions=(partition,)),),
        )
        for _ in range(ATTEMPTS_MAX):
            answer = await self.ask(
                request, ADD_PARTITIONS_VERSION, TRANSACTION, self._settings.transactional_id
            )
            (result,) = answer.results_by_topic_v3_and_below
            code = result.results_by_partition[0].partition_error_code
            if code == ErrorCode.NONE:
                self._announced[topic, partition] = None
                return
            self._give_up_unless_retriable(code)
            self._client.forget_coordinator(TRANSACTION, self._settings.transactional_id)
            await self._workload.pause(RETRY_SECONDS)
        raise TransactionLost("not announced")

    async def _deliver(self, operation: Operation, topic: str, partition: int, content: bytes) -> None:
        version = PRODUCE_VERSIONS[self._settings.is_modern]
        transactional_id = self._settings.transactional_id
        for _ in range(ATTEMPTS_MAX):
            request = produce_request(topic, partition, bytearray(content), transactional_id=transactional_id)
            try:
                code, offset = produced(await self._client.ask_leader(topic, partition, request, version))
            except Unanswered as error:
                operation.error = str(error)
            else:
                if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    operation.offset = offset
                    self._history.end(operation, Ending.OK)
                    return
                operation.error = ErrorCode(code).name
                if ErrorCode(code) not in RETRIABLE:
                    break
            self._client.forget_leader(topic, partition)
            await self._workload.pause(RETRY_SECONDS)
        self._history.end(operation, Ending.INFO, operation.error)
        raise TransactionLost(operation.error)

    async def _ask_end(self, decision: str, operation: Operation) -> int:
        """The last error code; ends the operation unless that is none."""
        request = EndTxnRequest(
            transactional_id=self._settings.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            committed=decision == COMMIT,
        )
        is_doubtful = False
        code = int(ErrorCode.REQUEST_TIMED_OUT)
        for _ in range(ATTEMPTS_MAX):
            try:
                answer = await self._client.ask_coordinator(
                    TRANSACTION, request.transactional_id, request, END_VERSIONS[self._settings.is_modern]
                )
            except Unanswered as error:
                is_doubtful = is_doubtful or error.was_sent
            else:
                code = int(answer.error_code)
                if code == ErrorCode.NONE:
                    self._take_epoch(answer, is_doubtful=is_doubtful)
                    return code
                is_doubtful = is_doubtful or ErrorCode(code) not in NOT_DONE
                if ErrorCode(code) not in RETRIABLE:
                    break
            self._client.forget_coordinator(TRANSACTION, request.transactional_id)
            await self._workload.pause(RETRY_SECONDS)
        self._history.end(operation, Ending.INFO if is_doubtful else Ending.FAIL, ErrorCode(code).name)
        return code or int(ErrorCode.REQUEST_TIMED_OUT)

    def _take_epoch(self, answer: Any, *, is_doubtful: bool) -> None:
        """The older protocol keeps its epoch, so that a copy of this request which arrives late would end the
        next transaction: whoever asked twice takes a new epoch first (this is what KIP-890 mends)."""
        if self._settings.is_modern:
            self._identity = Identity(producer_id=answer.producer_id, epoch=answer.producer_epoch)
        elif is_doubtful:
            self._identity = None

    def _give_up_unless_retriable(self, code: int) -> None:
        if ErrorCode(code) not in RETRIABLE:
            raise TransactionLost(ErrorCode(code).name)
