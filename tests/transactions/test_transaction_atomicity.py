"""All or nothing, through coordinator and leaders, by the second protocol (KIP-890).

Producers write values to partitions in transactions while copies of their requests, verdicts of the
coordinator and markers arrive late, repeatedly or after a crash; others take over their id. In the end, when
everything is healed, a transaction whose commit was acknowledged is there with every value, one that nobody
asked to commit is not there with any, and what is in doubt is there as a whole or not at all. No partition
waits for the end of a transaction that nobody will end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.transactions.coordinator_driver import (
    NAME,
    Coordinator,
    Identity,
    add_request,
    end_request,
    errors_of,
    init_request,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.verification import (
    MarkerVerdict,
    Verifications,
    is_verify_only,
    judge_marker,
)
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdResponse
from penstock.wire.schema import Struct

PARTITIONS = tuple(TopicPartition("orders", number) for number in range(2))
PRODUCE_VERSION = 12
NOBODY = (-1, -1)


@dataclass(eq=False)
class Transaction:
    """What a producer meant to be one."""

    #: Values sent, and those of them that were acknowledged.
    sent: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    is_commit_asked: bool = False
    is_commit_acknowledged: bool = False
    is_abort_asked: bool = False

    @property
    def is_ended(self) -> bool:
        return self.is_commit_asked or self.is_abort_asked


@dataclass(eq=False)
class Producer:
    identity: Identity = NOBODY
    transaction: Transaction = field(default_factory=Transaction)


@dataclass(eq=False)
class Produce:
    """A batch on its way."""

    identity: Identity
    transaction: Transaction
    value: int
    partition: TopicPartition


@dataclass(eq=False)
class End:
    """An EndTxn on its way."""

    producer: Producer
    transaction: Transaction
    request: EndTxnRequest


@dataclass(eq=False)
class Verdict:
    """The coordinator's word on its way back to a leader."""

    batch: Produce
    guard: int
    code: ErrorCode


class Leader:
    """A partition as far as transactions go: what is open, committed and aborted."""

    def __init__(self) -> None:
        self.verifications = Verifications()
        self.epochs: dict[int, int] = {}
        self.open: dict[int, list[int]] = {}
        self.committed: list[int] = []

    def is_open(self, identity: Identity) -> bool:
        return identity[0] in self.open and self.epochs[identity[0]] == identity[1]

    def is_fenced(self, identity: Identity) -> bool:
        return identity[1] < self.epochs.get(identity[0], -1)

    def append(self, batch: Produce) -> None:
        producer_id, epoch = batch.identity
        self.epochs[producer_id] = epoch
        values = self.open.setdefault(producer_id, [])
        if batch.value not in values:  # Sequence numbers would tell a copy.
            values.append(batch.value)
        self.verifications.end(producer_id)
        batch.transaction.acknowledged.add(batch.value)

    def mark(self, order: WriteMarkers) -> None:
        known = self.epochs.get(order.producer_id)
        try:
            verdict = judge_marker(
                marker_epoch=order.producer_epoch, known_epoch=known, version=order.transaction_version
            )
        except ApiError:  # The producer has moved on: the marker was written before.
            return
        if verdict is MarkerVerdict.ALREADY_WRITTEN:
            return
        self.epochs[order.producer_id] = order.producer_epoch
        self.verifications.end(order.producer_id)
        values = self.open.pop(order.producer_id, [])
        if order.is_commit:
            self.committed += values


class AtomicityMachine(RuleBasedStateMachine):
    """Producers, leaders, and a coordinator that all make trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.coordinator = Coordinator()
        self.leaders = {partition: Leader() for partition in PARTITIONS}
        self.producers = [Producer()]
        self.transactions = [self.producers[0].transaction]
        self.batches: list[Produce] = []
        self.ends: list[End] = []
        self.verdicts: list[Verdict] = []
        self.orders: list[WriteMarkers] = []
        self.waiting: dict[int, Producer | End | tuple[Produce, int]] = {}
        self.values = 0
        self.held_steps = 0

    # Producers.

    @rule()
    def take_over(self) -> None:
        """Another process starts with the id of the last."""
        producer = Producer()
        self.producers = [*self.producers[-1:], producer]
        self.transactions.append(producer.transaction)
        self._init(producer)

    @rule(
        data=st.data(), partitions=st.sets(st.sampled_from(PARTITIONS), min_size=1), is_prompt=st.booleans()
    )
    def produce(self, data: st.DataObject, partitions: set[TopicPartition], is_prompt: bool) -> None:
        producer = data.draw(st.sampled_from(self.producers))
        for partition in sorted(partitions):
            self._produce(producer, partition)
        if is_prompt:
            self._hear_all_verdicts()

    @rule(data=st.data(), is_commit=st.booleans(), is_prompt=st.booleans())
    def end(self, data: st.DataObject, is_commit: bool, is_prompt: bool) -> None:
        """A client commits only when it knows that everything has arrived."""
        producer = data.draw(st.sampled_from(self.producers))
        transaction = producer.transaction
        if producer.identity == NOBODY or transaction.is_ended:
            return
        is_commit = is_commit and bool(transaction.sent) and transaction.sent == transaction.acknowledged
        transaction.is_commit_asked, transaction.is_abort_asked = is_commit, not is_commit
        end = End(producer, transaction, end_request(producer.identity, is_commit))
        self.ends.append(end)
        self._deliver_end(end)
        if is_prompt:
            self._mark_all()

    # The world.

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def batch_comes_late(self, data: st.DataObject) -> None:
        self._deliver_batch(data.draw(st.sampled_from(self.batches[-8:])))

    @precondition(lambda self: self.ends)
    @rule(data=st.data())
    def end_comes_late(self, data: st.DataObject) -> None:
        self._deliver_end(data.draw(st.sampled_from(self.ends[-4:])))

    @precondition(lambda self: self.verdicts)
    @rule(data=st.data())
    def verdict_comes(self, data: st.DataObject) -> None:
        """One of those on their way; they overtake each other, but none comes twice."""
        verdict = data.draw(st.sampled_from(self.verdicts))
        self.verdicts.remove(verdict)
        self._hear_verdict(verdict)

    @precondition(lambda self: self.coordinator.orders)
    @rule(data=st.data())
    def markers_are_written(self, data: st.DataObject) -> None:
        order = data.draw(st.sampled_from(self.coordinator.orders))
        self._mark(order, data.draw(st.sets(st.sampled_from(order.partitions), min_size=1)))

    @precondition(lambda self: self.orders)
    @rule(data=st.data())
    def marker_comes_again(self, data: st.DataObject) -> None:
        """A copy of an order, to a leader that had it before."""
        order = data.draw(st.sampled_from(self.orders[-4:]))
        self.leaders[data.draw(st.sampled_from(order.partitions))].mark(order)

    @rule(seconds=st.sampled_from([1, 1, 61]))
    def time_passes(self, seconds: int) -> None:
        self.coordinator.pass_time(seconds * 1_000)

    @precondition(lambda self: self.coordinator.is_committing)
    @rule(steps=st.integers(1, 3))
    def disk_holds_back(self, steps: int) -> None:
        self.coordinator.is_committing = False
        self.held_steps = steps

    @rule()
    def coordinator_crashes(self) -> None:
        self.waiting.clear()
        self.coordinator.restart()

    @rule(partition=st.sampled_from(PARTITIONS))
    def leader_crashes(self, partition: TopicPartition) -> None:
        self.leaders[partition].verifications = Verifications()

    @invariant()
    def answers_come(self) -> None:
        self.held_steps -= 1
        if self.held_steps < 0:
            self.coordinator.is_committing = True
            self.coordinator.commit()
        self._hear_answers()

    @invariant()
    def nothing_is_seen_of_what_was_not_to_be_committed(self) -> None:
        seen = self._seen()
        for transaction in self.transactions:
            assert transaction.is_commit_asked or not transaction.sent & seen

    def teardown(self) -> None:
        """Heal, and look at what readers of committed records see."""
        self.held_steps = 0
        self.answers_come()
        self._hear_all_verdicts()
        for _ in range(2):  # Whatever is still open times out.
            self.coordinator.pass_time(61_000)
            self._mark_all()
        seen = self._seen()
        for transaction in self.transactions:
            found = transaction.sent & seen
            if transaction.is_commit_acknowledged:
                assert found == transaction.sent
            else:
                assert found in (set(), transaction.sent)
        for leader in self.leaders.values():
            assert not leader.open
            assert len(leader.committed) == len(set(leader.committed))
        self.nothing_is_seen_of_what_was_not_to_be_committed()

    # How.

    def _seen(self) -> set[int]:
        return {value for leader in self.leaders.values() for value in leader.committed}

    def _init(self, producer: Producer) -> None:
        self.waiting[self.coordinator.submit(init_request(), 5)] = producer
        self._hear_answers()

    def _produce(self, producer: Producer, partition: TopicPartition) -> None:
        if producer.identity == NOBODY:
            self._init(producer)
        elif not producer.transaction.is_ended:
            self.values += 1
            producer.transaction.sent.add(self.values)
            batch = Produce(producer.identity, producer.transaction, self.values, partition)
            self.batches.append(batch)
            self._deliver_batch(batch)

    def _deliver_end(self, end: End) -> None:
        self.waiting[self.coordinator.submit(end.request, 5)] = end
        self._hear_answers()

    def _deliver_batch(self, batch: Produce) -> None:
        leader = self.leaders[batch.partition]
        if leader.is_fenced(batch.identity):
            return
        if leader.is_open(batch.identity):
            leader.append(batch)
            return
        try:
            guard = leader.verifications.begin(*batch.identity)
        except ApiError:
            return
        is_asking = is_verify_only(PRODUCE_VERSION)
        request = add_request(batch.identity, [batch.partition], version=5, verify_only=is_asking)
        self.waiting[self.coordinator.submit(request, 5)] = (batch, guard)
        self._hear_answers()

    def _hear_answers(self) -> None:
        for token in sorted(self.coordinator.replies):
            response = self.coordinator.replies.pop(token)
            self._hear(self.waiting.pop(token), response)

    def _hear(self, asked: Producer | End | tuple[Produce, int], response: Struct) -> None:
        match asked:
            case Producer():
                assert isinstance(response, InitProducerIdResponse)
                if response.error_code == ErrorCode.NONE:
                    self._go_on(asked, (response.producer_id, response.producer_epoch))
            case End():
                assert isinstance(response, EndTxnResponse)
                if response.error_code == ErrorCode.NONE:
                    self._hear_end(asked, (response.producer_id, response.producer_epoch))
            case (batch, guard):
                (code,) = errors_of(response).values()
                self.verdicts.append(Verdict(batch, guard, code))

    def _hear_end(self, end: End, identity: Identity) -> None:
        if end.request.committed:
            end.transaction.is_commit_acknowledged = True
        if end.producer.transaction is end.transaction:
            self._go_on(end.producer, identity)

    def _go_on(self, producer: Producer, identity: Identity) -> None:
        producer.identity = identity
        producer.transaction = Transaction()
        self.transactions.append(producer.transaction)

    def _hear_all_verdicts(self) -> None:
        while self.verdicts:
            self._hear_verdict(self.verdicts.pop(0))

    def _hear_verdict(self, verdict: Verdict) -> None:
        batch, leader = verdict.batch, self.leaders[verdict.batch.partition]
        if verdict.code is not ErrorCode.NONE or leader.is_fenced(batch.identity):
            return
        if not leader.is_open(batch.identity):
            try:
                leader.verifications.check(*batch.identity, verdict.guard, produce_version=PRODUCE_VERSION)
            except ApiError:
                return
        leader.append(batch)

    def _mark_all(self) -> None:
        for order in list(self.coordinator.orders):
            self._mark(order, order.partitions)

    def _mark(self, order: WriteMarkers, partitions: Iterable[TopicPartition]) -> None:
        """Leaders write, and their report reaches the coordinator."""
        assert order.transactional_id == NAME
        for partition in sorted(partitions):
            self.leaders[partition].mark(order)
        self.orders.append(order)
        self.coordinator.report(order, sorted(partitions))
        if self.coordinator.current.state.is_at_rest:
            self.coordinator.orders.clear()


TestAtomicityMachine = pytest.mark.slow(AtomicityMachine.TestCase)
TestAtomicityMachine.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
