"""A shell for one transaction shard, in memory: a log, a clock that is told, and marks for what is committed.

It keeps the contract of ``penstock.coordinator.outcome`` to the letter: records are replayed at once, replies
and effects are held until everything appended so far is committed. Normally that is at once; with
``is_committing`` off a test decides, and a crash takes back what was not committed.
"""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicPartition
from penstock.model.patterns import Matcher
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.encoding import from_record, to_record
from penstock.transactions.events import MarkersWritten, TransactionEvent
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.settings import TransactionSettings
from penstock.transactions.shard import TransactionShard
from penstock.transactions.state import TransactionState
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.schema import Struct

NAME = "app"
ORDERS = TopicPartition("orders", 0)
PAYMENTS = TopicPartition("payments", 3)
TIMEOUT_MS = 60_000

Identity = tuple[int, int]


def compile_pattern(pattern: str) -> Matcher:
    compiled = re.compile(pattern)
    return lambda name: compiled.fullmatch(name) is not None


class Coordinator:
    """One transaction coordinator with its log."""

    def __init__(self, settings: TransactionSettings | None = None) -> None:
        self.settings = settings or TransactionSettings()
        self.now = Millis(1_000_000)
        self.coordinator_epoch = 4
        self.log: list[CoordinatorRecord] = []
        self.committed_end = 0
        self.is_committing = True
        #: Producer ids at hand; a test may take them away.
        self.pool: deque[int] = deque(range(1_000))
        #: Markers ordered and not reported as written yet.
        self.orders: list[WriteMarkers] = []
        self.replies: dict[int, Struct] = {}
        self._held: deque[tuple[int, Outcome]] = deque()
        self._token = 0
        self.shard = self._new_shard()

    # The shell's duties.

    def handle(self, event: TransactionEvent) -> Outcome:
        return self._carry_out(self.shard.handle(event, self.now))

    def tick(self) -> Outcome:
        return self._carry_out(self.shard.tick(self.now))

    def pass_time(self, milliseconds: int) -> None:
        """Let time pass, with a tick at every deadline on the way."""
        end = self.now + milliseconds
        while (deadline := self.shard.next_deadline()) is not None and deadline <= end:
            self.now = Millis(max(self.now, deadline))
            self.tick()
        self.now = Millis(end)

    def commit(self) -> None:
        self.committed_end = len(self.log)
        self._release()

    def restart(self) -> None:
        """Crash, and load from what was committed. Replies and orders under way are lost."""
        del self.log[self.committed_end :]
        self._held.clear()
        self.orders.clear()
        self.coordinator_epoch += 1
        self.shard = self._new_shard()
        for offset, record in enumerate(self.log):
            self.shard.replay(record, offset=offset)
        self.shard.validate()
        self._carry_out(self.shard.loaded(self.now))

    def report(self, order: WriteMarkers, partitions: Iterable[TopicPartition] | None = None) -> Outcome:
        written = order.partitions if partitions is None else tuple(partitions)
        return self.handle(MarkersWritten(order=order, partitions=written))

    def write_markers(self) -> list[WriteMarkers]:
        """Carry out every order; answers them."""
        carried_out, self.orders = self.orders, []
        for order in carried_out:
            self.report(order)
        return carried_out

    # Requests.

    def submit(self, request: Struct, version: int) -> int:
        self._token += 1
        self.handle(RequestReceived(token=self._token, request=request, api_version=version))
        return self._token

    def ask(self, request: Struct, version: int) -> Struct:
        return self.replies.pop(self.submit(request, version))

    def init(
        self,
        identity: Identity = (-1, -1),
        *,
        name: str = NAME,
        version: int = 5,
        timeout_ms: int = TIMEOUT_MS,
    ) -> InitProducerIdResponse:
        response = self.ask(init_request(identity, name=name, timeout_ms=timeout_ms), version)
        assert isinstance(response, InitProducerIdResponse)
        return response

    def initialised(self, *, name: str = NAME) -> Identity:
        response = self.init(name=name)
        assert response.error_code == ErrorCode.NONE
        return response.producer_id, response.producer_epoch

    def add(
        self, identity: Identity, *partitions: TopicPartition, name: str = NAME, version: int = 3
    ) -> ErrorCode:
        """The error that all partitions got."""
        response = self.ask(add_request(identity, partitions or (ORDERS,), name, version=version), version)
        assert isinstance(response, AddPartitionsToTxnResponse)
        codes = set(errors_of(response).values())
        assert len(codes) == 1
        return codes.pop()

    def add_offsets(self, identity: Identity, group: str = "readers", version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=NAME, producer_id=identity[0], producer_epoch=identity[1], group_id=group
        )
        response = self.ask(request, version)
        assert isinstance(response, AddOffsetsToTxnResponse)
        return ErrorCode(response.error_code)

    def end(
        self, identity: Identity, *, is_commit: bool, version: int = 4, name: str = NAME
    ) -> tuple[ErrorCode, Identity]:
        response = self.ask(end_request(identity, is_commit, name), version)
        assert isinstance(response, EndTxnResponse)
        return ErrorCode(response.error_code), (response.producer_id, response.producer_epoch)

    # What there is to look at.

    @property
    def current(self) -> TransactionMetadata:
        current = self.shard.get(NAME)
        assert current is not None
        return current

    @property
    def states(self) -> list[TransactionState]:
        """Of all values that were ever logged."""
        return [value.state for value in self.values() if value is not None]

    def values(self, *, start: int = 0) -> list[TransactionMetadata | None]:
        decoded = [from_record(record) for record in self.log[start:]]
        return [entry[1] for entry in decoded if entry is not None]

    # Known situations.

    def put_in_state(self, state: TransactionState, *, version: int = 4) -> Identity:
        """Bring the id into a state on the usual way; answers the identity that its owner has then."""
        identity = self.initialised()
        if state is TransactionState.EMPTY:
            return identity
        assert self.add(identity, ORDERS, version=5 if version >= 5 else 3) is ErrorCode.NONE
        if state is TransactionState.ONGOING:
            return identity
        is_commit = state in (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)
        code, raised = self.end(identity, is_commit=is_commit, version=version)
        assert code is ErrorCode.NONE
        if not state.is_decided:
            self.write_markers()
        assert self.current.state is state
        return raised if version >= 5 else identity

    def raise_epoch_to(self, epoch: int) -> Identity:
        """Pretend that the id was used very often."""
        producer_id, _ = self.initialised()
        self.plant(NAME, producer_id=producer_id, epoch=epoch)
        return producer_id, epoch

    def plant(self, name: str, *, producer_id: int, epoch: int) -> None:
        """Let the log say that a producer has this epoch."""
        value = TransactionMetadata.create(name, producer_id=producer_id, timeout_ms=TIMEOUT_MS, now=self.now)
        self._append(to_record(replace(value, producer_epoch=epoch)))
        self.commit()

    def _new_shard(self) -> TransactionShard:
        return TransactionShard(
            coordinator_epoch=self.coordinator_epoch,
            settings=self.settings,
            new_producer_id=lambda: self.pool.popleft() if self.pool else None,
            compile_pattern=compile_pattern,
            count_offsets_partitions=lambda: 50,
        )

    def _carry_out(self, outcome: Outcome) -> Outcome:
        for record in outcome.records:
            self._append(record)
        self.shard.validate()
        self._held.append((len(self.log), outcome))
        if self.is_committing:
            self.committed_end = len(self.log)
        self._release()
        return outcome

    def _append(self, record: CoordinatorRecord) -> None:
        self.log.append(record)
        self.shard.replay(record, offset=len(self.log) - 1)

    def _release(self) -> None:
        while self._held and self._held[0][0] <= self.committed_end:
            outcome = self._held.popleft()[1]
            for reply in outcome.replies:
                assert reply.token not in self.replies
                self.replies[reply.token] = reply.response
            self.orders += [effect for effect in outcome.effects if isinstance(effect, WriteMarkers)]


def init_request(
    identity: Identity = (-1, -1), *, name: str | None = NAME, timeout_ms: int = TIMEOUT_MS
) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=timeout_ms,
        producer_id=identity[0],
        producer_epoch=identity[1],
    )


def add_request(
    identity: Identity,
    partitions: Iterable[TopicPartition],
    name: str = NAME,
    *,
    version: int = 3,
    verify_only: bool = False,
) -> AddPartitionsToTxnRequest:
    topics = tuple(
        AddPartitionsToTxnTopic(name=partition.topic, partitions=(partition.partition,))
        for partition in partitions
    )
    if version < 4:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=identity[0],
            v3_and_below_producer_epoch=identity[1],
            v3_and_below_topics=topics,
        )
    return AddPartitionsToTxnRequest(
        transactions=(
            AddPartitionsToTxnTransaction(
                transactional_id=name,
                producer_id=identity[0],
                producer_epoch=identity[1],
                verify_only=verify_only,
                topics=topics,
            ),
        )
    )


def end_request(identity: Identity, is_commit: bool, name: str = NAME) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=name, producer_id=identity[0], producer_epoch=identity[1], committed=is_commit
    )


def errors_of(response: Struct) -> dict[TopicPartition, ErrorCode]:
    assert isinstance(response, AddPartitionsToTxnResponse)
    topics = [topic for result in response.results_by_transaction for topic in result.topic_results]
    return {
        TopicPartition(topic.name, result.partition_index): ErrorCode(result.partition_error_code)
        for topic in (*response.results_by_topic_v3_and_below, *topics)
        for result in topic.results_by_partition
    }
