"""All transactional ids of one partition of ``__transaction_state``: the machine's door.

Hard state, what the records say, changes only in ``replay``. Soft state follows from it and from what the
shell reports: which markers are still missing, and when transactions time out or ids are forgotten. It may be
lost at any time: ``loaded`` orders the missing markers again, and deadlines follow from the records.

``now`` is always the wall clock, since the times at which transactions began outlive a process.

Fresh producer ids are drawn from a pool that the shell keeps filled (``new_producer_id``), rather than
ordered by an effect and awaited. A decision therefore stays one step: there is no state of waiting in which
other requests, a timeout or a crash could come between, and nothing to check again afterwards. When the pool
is dry, which takes a thousand new ids within one allocation, the producer is told to come back
(COORDINATOR_LOAD_IN_PROGRESS, as Kafka does). An id that is drawn and not used is lost, which costs nothing.
"""

from collections.abc import Callable
from typing import TypeAlias, assert_never

from penstock.coordinator.deadlines import Deadlines
from penstock.coordinator.events import RequestReceived, TopicsDeleted
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome, answer
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import Millis, TopicPartition
from penstock.model.limits import TRANSACTIONAL_IDS_PER_SHARD_MAX, TRANSACTIONS_PER_TICK_MAX
from penstock.model.patterns import CompilePattern
from penstock.transactions.add_partitions import decide_additions, decide_offsets
from penstock.transactions.change import Change
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.encoding import from_record, to_record, to_tombstone
from penstock.transactions.end_txn import decide_end
from penstock.transactions.events import AddPartitionsReceived, MarkersWritten, TransactionEvent
from penstock.transactions.init_producer_id import decide_identity
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.responses import refusal
from penstock.transactions.settings import TransactionSettings
from penstock.transactions.state import TransactionState
from penstock.transactions.views import description, listing
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.list_transactions import ListTransactionsRequest

NewProducerId: TypeAlias = Callable[[], int | None]
"""Draws a producer id that nobody had before from the shell's pool; none if it is empty just now."""

POOL_RETRY_MS = 1_000
"""When to try again to end a transaction that timed out while the pool of producer ids was dry."""


class TransactionShard:
    """The coordinator of the transactional ids of one partition, for one term of office."""

    def __init__(
        self,
        *,
        coordinator_epoch: int,
        settings: TransactionSettings,
        new_producer_id: NewProducerId,
        compile_pattern: CompilePattern,
        count_offsets_partitions: Callable[[], int],
    ) -> None:
        """``coordinator_epoch`` is the leader epoch of the partition: markers of former terms are refused.

        How many partitions the topic of groups' offsets has is asked for each time: it may be made later.
        """
        self._coordinator_epoch = coordinator_epoch
        self._settings = settings
        self._new_producer_id = new_producer_id
        self._compile_pattern = compile_pattern
        self._count_offsets_partitions = count_offsets_partitions
        #: Hard: by transactional id, in the order in which they were first seen.
        self._transactions: dict[str, TransactionMetadata] = {}
        #: Soft: for all and only the decided transactions, the partitions whose markers are missing.
        self._unmarked: dict[str, set[TopicPartition]] = {}
        #: Soft: for the decided transactions, the number of the order for their markers.
        self._orders: dict[str, int] = {}
        #: Of the newest record; every decision makes it grow.
        self._last_offset = -1
        #: Soft: for all and only the open transactions.
        self._timeouts: Deadlines[str] = Deadlines()
        #: Soft: for all ids. One that is met while a transaction runs comes back with the next record.
        self._expiries: Deadlines[str] = Deadlines()

    def __len__(self) -> int:
        return len(self._transactions)

    def get(self, transactional_id: str) -> TransactionMetadata | None:
        """What is known of an id."""
        return self._transactions.get(transactional_id)

    def handle(self, event: TransactionEvent, now: Millis) -> Outcome:
        """Take in a fact or a request."""
        match event:
            case RequestReceived():
                return self._request_received(event, now)
            case MarkersWritten():
                return self._markers_written(event, now)
            case TopicsDeleted():
                return self._topics_deleted(event, now)
            case _:
                assert_never(event)

    def tick(self, now: Millis) -> Outcome:
        """End transactions that are open too long, and forget ids that are idle too long.

        A bounded number of them; what is left over is due again at once, by ``next_deadline``.
        """
        outcome = NOTHING
        for _ in range(TRANSACTIONS_PER_TICK_MAX):
            name = self._timeouts.pop_due(now)
            if name is None:
                break
            outcome += self._time_out(name, now)
        for _ in range(TRANSACTIONS_PER_TICK_MAX):
            name = self._expiries.pop_due(now)
            if name is None:
                break
            outcome += self._expire(name)
        return outcome

    def next_deadline(self) -> Millis | None:
        """When ``tick`` has something to do."""
        deadlines = (self._timeouts.next(), self._expiries.next())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def loaded(self, now: Millis) -> Outcome:
        """The log has been replayed: go on with every transaction that was decided but not completed."""
        outcome = NOTHING
        for name in list(self._unmarked):
            outcome += self._order_markers(self._transactions[name], now)
        return outcome

    def replay(
        self, record: CoordinatorRecord, *, offset: int, producer_id: int = -1, producer_epoch: int = -1
    ) -> None:
        """A record is in the log. The only way hard state changes; records here have no producer."""
        self._last_offset = offset
        decoded = from_record(record)
        if decoded is None:  # Of a kind that a newer broker writes; Kafka skips those too.
            return
        name, value = decoded
        if value is None:
            self._forget(name)
        else:
            self._remember(value)

    def complete_transaction(self, producer_id: int, producer_epoch: int, is_commit: bool) -> None:
        """A marker is in the log, which means nothing here: no record of this topic is in a transaction."""

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        for name, value in self._transactions.items():
            value.validate()
            _require(name == value.transactional_id, f"{name!r} holds the state of another: {value}")
            is_open = value.state is TransactionState.ONGOING
            _require((name in self._timeouts) == is_open, f"{name!r} has a wrong timeout: {value}")
            is_decided = value.state.is_decided
            _require((name in self._unmarked) == is_decided, f"{name!r} has wrong markers: {value}")
            is_known = name in self._expiries or not value.state.is_at_rest
            _require(is_known, f"{name!r} would never be forgotten: {value}")
        _require(self._orders.keys() <= self._unmarked.keys(), "there are orders without a decision")
        for name, missing in self._unmarked.items():
            _require(name in self._transactions, f"{name!r} has markers and is not known")
            _require(missing <= self._transactions[name].partitions, f"{name!r} has markers of others")
        self._timeouts.validate()
        self._expiries.validate()

    def _request_received(self, event: RequestReceived, now: Millis) -> Outcome:
        try:
            change = self._decide(event, now)
        except ApiError as error:
            return answer(event.token, refusal(event.request, event.api_version, error.code))
        outcome = NOTHING
        for value in change.values:
            outcome += self._write(value, now)
        return outcome + answer(event.token, change.response)

    def _decide(self, event: RequestReceived, now: Millis) -> Change:
        request = event.request
        match request:
            case InitProducerIdRequest():
                return self._decide_identity(request, now)
            case AddPartitionsToTxnRequest():
                return decide_additions(
                    _with_findings(event), request, lookup=self._transactions.get, now=now
                )
            case AddOffsetsToTxnRequest():
                return decide_offsets(
                    self.get(request.transactional_id),
                    request,
                    offsets_partition_count=self._count_offsets_partitions(),
                    now=now,
                )
            case EndTxnRequest():
                return decide_end(
                    self.get(request.transactional_id),
                    request,
                    api_version=event.api_version,
                    fresh_id=self._fresh_id,
                    now=now,
                )
            case DescribeTransactionsRequest():
                return Change(response=self._describe(request))
            case ListTransactionsRequest():
                known = self._transactions.values()
                pattern = self._compile_pattern
                return Change(response=listing(known, request, compile_pattern=pattern, now=now))
            case _:
                raise InvariantError(f"{type(request).__name__} is not for the transaction coordinator")

    def _decide_identity(self, request: InitProducerIdRequest, now: Millis) -> Change:
        name = request.transactional_id or ""
        if name not in self._transactions and len(self) >= TRANSACTIONAL_IDS_PER_SHARD_MAX:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION,
                f"The coordinator knows {len(self)} transactional ids, which is the limit.",
            )
        return decide_identity(
            self.get(name), request, settings=self._settings, fresh_id=self._fresh_id, now=now
        )

    def _describe(self, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
        return DescribeTransactionsResponse(
            transaction_states=tuple(
                description(name, self.get(name), self._partitions_of(name))
                for name in request.transactional_ids
            )
        )

    def _partitions_of(self, name: str) -> frozenset[TopicPartition]:
        if name in self._unmarked:
            return frozenset(self._unmarked[name])
        value = self.get(name)
        return frozenset() if value is None else value.partitions

    def _fresh_id(self) -> int:
        producer_id = self._new_producer_id()
        if producer_id is None:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "New producer ids are on their way.")
        return producer_id

    def _write(self, value: TransactionMetadata, now: Millis) -> Outcome:
        """Let ``value`` be the next one; a decision is followed by its markers."""
        written = Outcome(records=(to_record(value),))
        return written + self._order_markers(value, now) if value.state.is_decided else written

    def _order_markers(self, value: TransactionMetadata, now: Millis) -> Outcome:
        """Have a decided transaction completed; one without partitions is complete."""
        if not value.partitions:
            return Outcome(records=(to_record(value.prepare_completion(now)),))
        self._orders[value.transactional_id] = self._last_offset
        order = WriteMarkers(
            transactional_id=value.transactional_id,
            number=self._last_offset,
            producer_id=value.producer_id,
            producer_epoch=value.producer_epoch,
            coordinator_epoch=self._coordinator_epoch,
            is_commit=value.state is TransactionState.PREPARE_COMMIT,
            transaction_version=value.transaction_version,
            partitions=tuple(sorted(value.partitions)),
        )
        return Outcome(effects=(order,))

    def _markers_written(self, event: MarkersWritten, now: Millis) -> Outcome:
        """News of any but the newest order are an echo of a former one, and nothing follows from it."""
        name = event.order.transactional_id
        if self._orders.get(name) != event.order.number:
            return NOTHING
        return self._marked(self._transactions[name], set(event.partitions), now)

    def _topics_deleted(self, event: TopicsDeleted, now: Millis) -> Outcome:
        """What is gone needs no marker."""
        topics = frozenset(event.topics)
        outcome = NOTHING
        for name, missing in list(self._unmarked.items()):
            gone = {partition for partition in missing if partition.topic in topics}
            if gone:
                outcome += self._marked(self._transactions[name], gone, now)
        return outcome

    def _marked(self, value: TransactionMetadata, partitions: set[TopicPartition], now: Millis) -> Outcome:
        missing = self._unmarked[value.transactional_id]
        missing -= partitions
        return NOTHING if missing else Outcome(records=(to_record(value.prepare_completion(now)),))

    def _time_out(self, name: str, now: Millis) -> Outcome:
        """Abort an open transaction under a raised epoch; its producer may still ask for it (KIP-588)."""
        value = self._transactions[name]
        try:
            aborted = value.prepare_end_raising_epoch(is_commit=False, now=now, fresh_id=self._fresh_id)
        except ApiError:  # No producer id is at hand.
            self._timeouts.set(name, Millis(now + POOL_RETRY_MS))
            return NOTHING
        return self._write(aborted, now)

    def _expire(self, name: str) -> Outcome:
        is_idle = self._transactions[name].state.is_at_rest
        return Outcome(records=(to_tombstone(name),)) if is_idle else NOTHING

    def _remember(self, value: TransactionMetadata) -> None:
        name = value.transactional_id
        self._transactions[name] = value
        if value.state is TransactionState.ONGOING:
            self._timeouts.set(name, Millis(value.start_timestamp + value.timeout_ms))
        else:
            self._timeouts.cancel(name)
        if value.state.is_decided:
            self._unmarked[name] = set(value.partitions)
        else:
            self._unmarked.pop(name, None)
            self._orders.pop(name, None)
        self._expiries.set(name, Millis(value.last_update_timestamp + self._settings.expiration_ms))

    def _forget(self, name: str) -> None:
        self._transactions.pop(name, None)
        self._unmarked.pop(name, None)
        self._orders.pop(name, None)
        self._timeouts.cancel(name)
        self._expiries.cancel(name)


def _with_findings(event: RequestReceived) -> AddPartitionsReceived:
    """A shell that found nothing wrong with the partitions need not say so."""
    if isinstance(event, AddPartitionsReceived):
        return event
    return AddPartitionsReceived(token=event.token, request=event.request, api_version=event.api_version)


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise InvariantError(complaint)
