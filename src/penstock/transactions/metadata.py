"""The hard state of one transactional id, and the values that may come after it.

Who may speak for an id
-----------------------
A producer speaks with an *identity*: a producer id and an epoch. The present one belongs to its *owner*. A
raised epoch shuts out whoever had the one before, with one exception. The answer that tells an owner of its
new identity may be lost; it then asks again with the old one. So the identity before the present one is
remembered as *former* as long as its holder is the one who is entitled to the present one:

- by InitProducerId with an identity (KIP-360), by EndTxn of the second protocol, by a timeout: the former
  holder is the rightful owner and may be told again;
- by InitProducerId without an identity somebody else takes over: there is no former one, the old holder is
  fenced for good;
- once the present identity has been used to open a transaction its owner knows it: no former one is needed.

Thus an identity is only ever told to one producer, and nobody who was fenced is let in again.

Epochs
------
Producers get epochs up to 32766. The one above is kept for the coordinator: a transaction that ends at 32766
by a raised epoch is marked with 32767, and its owner goes on with a new producer id at epoch 0, which the
*Prepare* record already names. 32767 is therefore only found in *Prepare* states.

The ``prepare_*`` methods compute and change nothing: they return the next value, which becomes the present
one when the record that holds it is replayed.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Self, TypeAlias

from penstock.coordinator.outcome import ProducerEpoch
from penstock.model.errors import InvariantError
from penstock.model.ids import NO_PRODUCER_ID, Millis, TopicPartition
from penstock.transactions.state import TransactionState, check_exit
from penstock.transactions.version import TransactionVersion

FreshId: TypeAlias = Callable[[], int]
"""Gives a producer id that nobody had before, or raises a retriable ``ApiError`` if none is at hand."""

NO_EPOCH = -1
NO_TIMESTAMP = -1

EPOCH_MAX = 32767
"""The highest epoch there is; never given to a producer."""

PRODUCER_EPOCH_MAX = EPOCH_MAX - 1
"""The highest epoch that a producer gets."""


class Claim(Enum):
    """What somebody who speaks for a transactional id is to it."""

    OWNER = auto()
    """Has the present identity, or the one that comes with the completion under way."""
    FORMER = auto()
    """Has the identity before, and is entitled to the present one."""
    STRANGER = auto()
    """Is fenced, or was never known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMetadata:
    """What the log says about one transactional id."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    #: How long a transaction may stay open.
    timeout_ms: int
    last_update_timestamp: int
    state: TransactionState = TransactionState.EMPTY
    #: Of the open or decided transaction; none at rest.
    partitions: frozenset[TopicPartition] = frozenset()
    #: When the newest transaction was opened.
    start_timestamp: int = NO_TIMESTAMP
    #: The producer id of the former identity, if there is one.
    previous_producer_id: int = NO_PRODUCER_ID
    #: In a Prepare state whose epochs have run out: the producer id to go on with.
    next_producer_id: int = NO_PRODUCER_ID
    #: Of the newest transaction.
    transaction_version: TransactionVersion = TransactionVersion.TV0

    @classmethod
    def create(cls, transactional_id: str, *, producer_id: int, timeout_ms: int, now: Millis) -> Self:
        """The first value of a new id."""
        return cls(
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=0,
            timeout_ms=timeout_ms,
            last_update_timestamp=now,
        )

    @property
    def identity(self) -> ProducerEpoch:
        """What the owner speaks with: when a completion brings a new producer id, already that."""
        if self.next_producer_id != NO_PRODUCER_ID:
            return ProducerEpoch(producer_id=self.next_producer_id, producer_epoch=0)
        return ProducerEpoch(producer_id=self.producer_id, producer_epoch=self.producer_epoch)

    @property
    def former_identity(self) -> ProducerEpoch | None:
        """What the owner spoke with before, if it may not know yet of the present one.

        The record need not hold its epoch: a producer id is only left behind when its epochs have run out.
        """
        if self.previous_producer_id == NO_PRODUCER_ID:
            return None
        is_same_id = self.previous_producer_id == self.producer_id
        epoch = self.producer_epoch - 1 if is_same_id else PRODUCER_EPOCH_MAX
        return ProducerEpoch(producer_id=self.previous_producer_id, producer_epoch=epoch)

    @property
    def has_exhausted_epochs(self) -> bool:
        """Whether raising the epoch needs a new producer id."""
        return self.producer_epoch >= PRODUCER_EPOCH_MAX

    def claim_of(self, identity: ProducerEpoch) -> Claim:
        """What the holder of ``identity`` is to this transactional id."""
        if identity == self.identity:
            return Claim.OWNER
        return Claim.FORMER if identity == self.former_identity else Claim.STRANGER

    def prepare_take_over(self, *, timeout_ms: int, now: Millis, fresh_id: FreshId) -> Self:
        """Somebody new becomes the owner, and whoever was is shut out."""
        return self._with_next_identity(fresh_id)._without_former()._reset(timeout_ms, now)

    def prepare_renewal(self, *, timeout_ms: int, now: Millis, fresh_id: FreshId) -> Self:
        """The owner gets a new identity and may ask for it again (KIP-360)."""
        return self._with_next_identity(fresh_id)._reset(timeout_ms, now)

    def prepare_repetition(self, *, timeout_ms: int, now: Millis) -> Self:
        """The owner did not hear of its identity and is told again: it stays what it is."""
        return self._reset(timeout_ms, now)

    def prepare_addition(
        self, partitions: Collection[TopicPartition], *, version: TransactionVersion, now: Millis
    ) -> Self:
        """More partitions belong to the transaction, which is opened if it is not."""
        is_open = self.state is TransactionState.ONGOING
        return replace(
            self._without_former()._moved(TransactionState.ONGOING, now),
            partitions=self.partitions | frozenset(partitions),
            start_timestamp=self.start_timestamp if is_open else now,
            transaction_version=version,
        )

    def prepare_end(self, *, is_commit: bool, now: Millis) -> Self:
        """The owner ends its transaction by the first protocol and keeps its identity."""
        return replace(self._moved(_decision(is_commit), now), transaction_version=TransactionVersion.TV0)

    def prepare_end_raising_epoch(self, *, is_commit: bool, now: Millis, fresh_id: FreshId) -> Self:
        """The transaction ends and its owner goes on with a new identity, of which it may ask again.

        By EndTxn of the second protocol, which may also abort what was never begun, or by a timeout.
        """
        return replace(
            self._moved(_decision(is_commit), now),
            producer_epoch=self.producer_epoch + 1,
            previous_producer_id=self.producer_id,
            next_producer_id=fresh_id() if self.has_exhausted_epochs else NO_PRODUCER_ID,
            start_timestamp=now if self.state.is_at_rest else self.start_timestamp,
            transaction_version=TransactionVersion.TV2,
        )

    def prepare_fence(self, *, now: Millis, fresh_id: FreshId) -> Self:
        """The open transaction is aborted because somebody else wants the id; its owner is shut out."""
        return self.prepare_end_raising_epoch(is_commit=False, now=now, fresh_id=fresh_id)._without_former()

    def prepare_completion(self, now: Millis) -> Self:
        """Every partition has its marker."""
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        target = TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT
        completed = replace(self._moved(target, now), partitions=frozenset())
        if self.next_producer_id == NO_PRODUCER_ID:
            return completed
        return replace(
            completed,
            producer_id=self.next_producer_id,
            producer_epoch=0,
            next_producer_id=NO_PRODUCER_ID,
        )

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        epoch_max = EPOCH_MAX if self.state.is_decided else PRODUCER_EPOCH_MAX
        self._require(self.producer_id >= 0, "has no producer id")
        self._require(0 <= self.producer_epoch <= epoch_max, "has an epoch that no producer may have")
        self._require(self.timeout_ms > 0, "has no timeout")
        self._require(
            (self.producer_epoch == EPOCH_MAX) == (self.next_producer_id != NO_PRODUCER_ID),
            "has a next producer id without need, or needs one",
        )
        self._require(not (self.partitions and self.state.is_at_rest), "has partitions and no transaction")
        self._require(
            self.start_timestamp != NO_TIMESTAMP or self.state is TransactionState.EMPTY, "has no start"
        )

    def _with_next_identity(self, fresh_id: FreshId) -> Self:
        """The identity after the present one, which becomes the former."""
        is_exhausted = self.has_exhausted_epochs
        return replace(
            self,
            producer_id=fresh_id() if is_exhausted else self.producer_id,
            producer_epoch=0 if is_exhausted else self.producer_epoch + 1,
            previous_producer_id=self.producer_id,
        )

    def _without_former(self) -> Self:
        return replace(self, previous_producer_id=NO_PRODUCER_ID)

    def _reset(self, timeout_ms: int, now: Millis) -> Self:
        """No transaction since the producer has its identity."""
        empty = self._moved(TransactionState.EMPTY, now)
        return replace(empty, timeout_ms=timeout_ms, start_timestamp=NO_TIMESTAMP)

    def _moved(self, target: TransactionState, now: Millis) -> Self:
        check_exit(self.state, target, self)
        # Clocks go back at times; what is written never does.
        return replace(self, state=target, last_update_timestamp=max(now, self.last_update_timestamp))

    def _require(self, condition: bool, complaint: str) -> None:
        if not condition:
            raise InvariantError(f"{self.transactional_id!r} {complaint}: {self}")


def _decision(is_commit: bool) -> TransactionState:
    return TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT
