"""Random producers, retries, copies, delays, crashes: what must hold in the end holds after every step.

Producers of both protocols compete for one transactional id, beside another that must not be touched by it.
Every request goes into a network that delivers it any number of times, in any order, whenever it likes. The
disk may hold back, and a crash loses what it held back. The checks look at what was asked, what was told to
whom and what is in the log; they know nothing of the shard's inside.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.transactions.coordinator_driver import (
    Coordinator,
    Identity,
    add_request,
    end_request,
    errors_of,
    init_request,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.encoding import from_record
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.responses import transactions_of
from penstock.transactions.state import TransactionState
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.schema import Struct

Thing = TypeVar("Thing")

NAMES = ("app", "app", "app", "bystander")
PRODUCERS_MAX = 3
LATE_MAX = 10
PARTITIONS = tuple(TopicPartition("orders", number) for number in range(3))
NOBODY = (-1, -1)
REFUSALS = {ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.PRODUCER_FENCED}
ONGOING = TransactionState.ONGOING
COMPLETION_OF = {
    TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
}
AFTER_REST = {TransactionState.EMPTY, ONGOING, TransactionState.PREPARE_ABORT}


@dataclass(eq=False)
class Producer:
    """One process that uses a transactional id; it believes what it was told last."""

    name: str
    protocol: int
    identity: Identity = NOBODY


@dataclass(eq=False)
class Flight:
    """A request on its way; it may be delivered more than once."""

    producer: Producer
    request: Struct
    version: int
    #: The producer has moved on and does not listen to the answer any more.
    is_stale: bool = False

    @property
    def identity(self) -> Identity:
        """Whom it speaks for."""
        match self.request:
            case InitProducerIdRequest() | EndTxnRequest():
                return self.request.producer_id, self.request.producer_epoch
            case AddPartitionsToTxnRequest():
                (transaction,) = transactions_of(self.request, self.version)
                return transaction.producer_id, transaction.producer_epoch
            case _:
                raise AssertionError(f"nobody sends {self.request}")


@dataclass
class Delivery:
    """A copy of a request that has reached the coordinator."""

    flight: Flight
    was_fenced: bool
    written: list[TransactionMetadata]


@dataclass
class Told:
    """What was promised about one transactional id."""

    #: Who was told which identity. No identity may have two holders.
    holders: dict[Identity, Producer] = field(default_factory=dict)
    #: Identities told before somebody took over.
    fenced: set[Identity] = field(default_factory=set)


class TransactionMachine(RuleBasedStateMachine):
    """Does anything, in any order, and checks everything."""

    def __init__(self) -> None:
        super().__init__()
        self.coordinator = Coordinator()
        self.producers: list[Producer] = []
        self.network: list[Flight] = []
        self.deliveries: dict[int, Delivery] = {}
        self.told: dict[str, Told] = defaultdict(Told)
        self.reports: list[WriteMarkers] = []
        self.reported: dict[WriteMarkers, set[TopicPartition]] = defaultdict(set)
        #: Which decision in the log an order is about.
        self.decisions: dict[WriteMarkers, int] = {}
        #: What leaders have on disk of each decision; a completion without all of it would be premature.
        self.marked: dict[int, set[TopicPartition]] = defaultdict(set)
        self.used_ids: dict[int, str] = {}
        #: For how many steps the disk will still hold back.
        self.held_steps = 0
        self.checked_end = 0
        #: The newest value of every id, and where in the log it stands.
        self.newest: dict[str, tuple[int, TransactionMetadata]] = {}

    # What producers do.

    @initialize(is_old=st.booleans())
    def begin(self, is_old: bool) -> None:
        """Some ids have a long past."""
        if is_old:
            for name in sorted(set(NAMES)):
                producer_id = self.coordinator.pool.popleft()
                self.coordinator.plant(name, producer_id=producer_id, epoch=32763)

    @rule(name=st.sampled_from(NAMES), protocol=st.sampled_from([1, 2]))
    def start(self, name: str, protocol: int) -> None:
        """A process starts, and an older one may have died, which its requests do not know."""
        producer = Producer(name, protocol)
        self.producers = [*self.producers[1 - PRODUCERS_MAX :], producer]
        self._init(producer)

    @precondition(lambda self: self.producers)
    @rule(data=st.data())
    def init_again(self, data: st.DataObject) -> None:
        self._init(self._pick(data, self.producers))

    @precondition(lambda self: self.producers)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        producer = self._pick(data, self.producers)
        if producer.identity != NOBODY:
            self._send(producer, init_request(producer.identity, name=producer.name), 5)

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), partitions=st.sets(st.sampled_from(PARTITIONS), min_size=1))
    def add(self, data: st.DataObject, partitions: set[TopicPartition]) -> None:
        self._add(self._pick(data, self.producers), partitions)

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), is_commit=st.booleans())
    def end(self, data: st.DataObject, is_commit: bool) -> None:
        self._end(self._pick(data, self.producers), is_commit)

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), count=st.integers(1, 3), is_commit=st.booleans())
    def add_and_end(self, data: st.DataObject, count: int, is_commit: bool) -> None:
        producer = self._pick(data, self.producers)
        self._add(producer, set(PARTITIONS[:count]))
        self._end(producer, is_commit)

    @precondition(lambda self: self.producers)
    @rule(data=st.data(), count=st.integers(1, 3), is_commit=st.booleans())
    def transact(self, data: st.DataObject, count: int, is_commit: bool) -> None:
        producer = self._pick(data, self.producers)
        self._add(producer, set(PARTITIONS[:count]))
        self._end(producer, is_commit)
        self._write_all_markers()

    # What the world does.

    @precondition(lambda self: self.network)
    @rule(data=st.data())
    def deliver_late(self, data: st.DataObject) -> None:
        """A copy of something that was sent before, now or long ago."""
        self._deliver(self._pick(data, self.network[-LATE_MAX:]))

    @precondition(lambda self: self.coordinator.is_committing)
    @rule(steps=st.integers(1, 4))
    def disk_holds_back(self, steps: int) -> None:
        self.coordinator.is_committing = False
        self.held_steps = steps

    @invariant()
    def disk_catches_up_in_the_end(self) -> None:
        self.held_steps -= 1
        if self.held_steps < 0:
            self._catch_up()

    @rule()
    def crash(self) -> None:
        self.checked_end = 0
        self.newest.clear()
        self.deliveries.clear()
        self.reported.clear()
        self.coordinator.restart()

    @precondition(lambda self: self.coordinator.orders)
    @rule(data=st.data())
    def write_markers(self, data: st.DataObject) -> None:
        order = self._pick(data, self.coordinator.orders)
        written = data.draw(st.sets(st.sampled_from(order.partitions), min_size=1))
        self._write_markers(order, written)

    @precondition(lambda self: self.reports)
    @rule(data=st.data())
    def repeat_report(self, data: st.DataObject) -> None:
        order = self._pick(data, self.reports[-LATE_MAX:])
        self.coordinator.report(order, sorted(self.marked[self.decisions[order]]))

    @rule(seconds=st.sampled_from([1, 1, 30, 30, 61, 61, 7 * 24 * 3600]))
    def let_time_pass(self, seconds: int) -> None:
        log_end = len(self.coordinator.log)
        self.coordinator.pass_time(seconds * 1_000)
        for value in self.coordinator.values(start=log_end):
            assert value is None or value.state is TransactionState.PREPARE_ABORT

    @rule()
    def dry_pool(self) -> None:
        pool, self.coordinator.pool = self.coordinator.pool, type(self.coordinator.pool)()
        self.coordinator.pass_time(1_000)
        for producer in self.producers[-1:]:
            self._send(producer, init_request(producer.identity, name=producer.name), 5)
        self.coordinator.pool = pool

    # What must hold.

    @invariant()
    def log_tells_a_legal_story(self) -> None:
        for offset in range(self.checked_end, len(self.coordinator.log)):
            decoded = from_record(self.coordinator.log[offset])
            assert decoded is not None
            self._check_record(offset, *decoded)
        self.checked_end = len(self.coordinator.log)
        for order in self.coordinator.orders:
            self.decisions.setdefault(order, self.newest[order.transactional_id][0])

    @invariant()
    def shard_knows_what_the_log_says(self) -> None:
        assert len(self.coordinator.shard) == len(self.newest)
        for name, (_, value) in self.newest.items():
            assert self.coordinator.shard.get(name) == value

    def teardown(self) -> None:
        """When all is well again, everything that was decided is completed, and anybody can go on."""
        coordinator = self.coordinator
        self._catch_up()
        coordinator.pass_time(61_000)
        self._write_all_markers()
        self.log_tells_a_legal_story()
        for name in list(self.newest):
            current = coordinator.shard.get(name)
            assert current is not None
            assert current.state.is_at_rest
            identity = coordinator.initialised(name=name)
            assert coordinator.add(identity, PARTITIONS[0], name=name) is ErrorCode.NONE
            assert coordinator.end(identity, is_commit=True, name=name)[0] is ErrorCode.NONE
            self._write_all_markers()
        self.log_tells_a_legal_story()

    # How.

    def _catch_up(self) -> None:
        self.coordinator.is_committing = True
        self.coordinator.commit()
        self._hear_answers()

    def _pick(self, data: st.DataObject, things: list[Thing]) -> Thing:
        return data.draw(st.sampled_from(things))

    def _init(self, producer: Producer) -> None:
        self._send(producer, init_request(name=producer.name), 5)

    def _add(self, producer: Producer, partitions: set[TopicPartition]) -> None:
        version = 5 if producer.protocol == 2 else 3
        request = add_request(producer.identity, sorted(partitions), producer.name, version=version)
        self._send(producer, request, version)

    def _end(self, producer: Producer, is_commit: bool) -> None:
        version = 5 if producer.protocol == 2 else 4
        self._send(producer, end_request(producer.identity, is_commit, producer.name), version)

    def _send(self, producer: Producer, request: Struct, version: int) -> None:
        for flight in self.network:
            if flight.producer is producer:
                flight.is_stale = True
        flight = Flight(producer, request, version)
        self.network.append(flight)
        self._deliver(flight)

    def _deliver(self, flight: Flight) -> None:
        was_fenced = flight.identity in self.told[flight.producer.name].fenced
        log_end = len(self.coordinator.log)
        token = self.coordinator.submit(flight.request, flight.version)
        written = [value for value in self.coordinator.values(start=log_end) if value is not None]
        self._check_written(flight, written)
        self.deliveries[token] = Delivery(flight, was_fenced, written)
        self._hear_answers()

    def _check_written(self, flight: Flight, written: list[TransactionMetadata]) -> None:
        """Only what was asked, only by its owner, and only under its epoch or the next."""
        for value in written:
            assert value.transactional_id == flight.producer.name
            spoken = (value.producer_id, value.producer_epoch)
            match flight.request:
                case AddPartitionsToTxnRequest():
                    assert (value.state, spoken) == (ONGOING, flight.identity)
                case EndTxnRequest():
                    asked = "Commit" if flight.request.committed else "Abort"
                    assert value.state in (f"Prepare{asked}", f"Complete{asked}")
                    if value.state.is_decided:
                        assert spoken == (flight.identity[0], flight.identity[1] + (flight.version >= 5))
                case InitProducerIdRequest():
                    assert value.state in (TransactionState.EMPTY, TransactionState.PREPARE_ABORT)

    def _hear_answers(self) -> None:
        for token in sorted(self.coordinator.replies):
            self._hear(self.deliveries.pop(token), self.coordinator.replies.pop(token))

    def _hear(self, delivery: Delivery, response: Struct) -> None:
        flight, told = delivery.flight, self.told[delivery.flight.producer.name]
        code, identity = _read(response)
        if delivery.was_fenced:
            assert code in REFUSALS
        is_takeover = isinstance(flight.request, InitProducerIdRequest) and flight.identity == NOBODY
        if code is not ErrorCode.NONE:
            # A transaction is aborted to make way, but nothing else comes with a refusal.
            makes_way = isinstance(flight.request, InitProducerIdRequest)
            assert not delivery.written or (makes_way and code is ErrorCode.CONCURRENT_TRANSACTIONS)
        if is_takeover and delivery.written:
            told.fenced |= told.holders.keys() - {identity}
        if identity == NOBODY:
            return
        assert told.holders.setdefault(identity, flight.producer) is flight.producer
        assert identity != flight.identity
        if not flight.is_stale:
            flight.producer.identity = identity

    def _write_all_markers(self) -> None:
        self.log_tells_a_legal_story()
        for order in list(self.coordinator.orders):
            self._write_markers(order, set(order.partitions))

    def _write_markers(self, order: WriteMarkers, written: set[TopicPartition]) -> None:
        """Leaders write; an order is done when all of it was reported, whatever earlier orders have done."""
        self.marked[self.decisions[order]] |= written
        self.reported[order] |= written
        self.reports.append(order)
        self.coordinator.report(order, sorted(written))
        if self.reported[order] >= set(order.partitions) and order in self.coordinator.orders:
            self.coordinator.orders.remove(order)

    def _check_record(self, offset: int, name: str, value: TransactionMetadata | None) -> None:
        before = self.newest.pop(name, None)
        if value is None:
            assert before is not None
            assert before[1].state.is_at_rest
            self.told[name].fenced.clear()  # Whoever comes next begins anew.
            return
        if before is not None:
            self._check_move(*before, value)
        assert self.used_ids.setdefault(value.producer_id, name) == name
        self.newest[name] = (offset, value)

    def _check_move(self, offset: int, before: TransactionMetadata, value: TransactionMetadata) -> None:
        if before.state in COMPLETION_OF:
            assert value.state is COMPLETION_OF[before.state]
            assert self.marked[offset] >= before.partitions
        elif before.state is ONGOING:
            assert value.state is ONGOING or value.state in COMPLETION_OF
            assert value.partitions >= before.partitions
            assert value.start_timestamp == before.start_timestamp
        else:
            assert value.state in AFTER_REST
        if value.producer_id == before.producer_id:
            assert value.producer_epoch >= before.producer_epoch
        else:
            assert value.producer_epoch == 0
        assert value.last_update_timestamp >= before.last_update_timestamp


def _read(response: Struct) -> tuple[ErrorCode, Identity]:
    """The answer's code, and the identity it tells, if any."""
    if isinstance(response, AddPartitionsToTxnResponse):
        (code,) = set(errors_of(response).values())
        return code, NOBODY
    assert isinstance(response, InitProducerIdResponse | EndTxnResponse)
    return ErrorCode(response.error_code), (response.producer_id, response.producer_epoch)


TestTransactionMachine = pytest.mark.slow(TransactionMachine.TestCase)
TestTransactionMachine.settings = settings(
    max_examples=150,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
