"""The states of a transactional id, what each of them answers, and the one table of legal moves.

Two rules: everything that decides whether a move is legal stands in ``EXITS``, and this file knows nothing of
producers, requests' formats or time.

Theory
------
A transactional id has at most one transaction. It is opened by the first partition that is added to it,
decided by writing a *Prepare* state, and over when every partition has its marker and a *Complete* state is
written::

           add partitions               EndTxn                    markers written
    Empty ──────────────────► Ongoing ───────────► PrepareCommit ─────────────────► CompleteCommit ─┐
      ▲                        ▲   │                                                                │
      │                        │   │ EndTxn, timeout, InitProducerId                                │
      │                        │   └─────────────► PrepareAbort ──────────────────► CompleteAbort ──┤
      │                        │                                                                    │
      │                        └──────────────────────── add partitions ────────────────────────────┤
      └───────────────────────────────────────────────── InitProducerId ────────────────────────────┘

The *Prepare* record is the decision: before it is committed nothing is decided, after it nothing but the
matching *Complete* can follow, whatever crashes, repeats or comes late. That is why the client is answered
then, and why a coordinator that finds a *Prepare* in its log orders all markers again.

Whom the coordinator listens to is decided by the producer id and epoch, see
``penstock.transactions.metadata``; below, *the owner* has the present one and anybody else is refused with
INVALID_PRODUCER_ID_MAPPING (another id) or PRODUCER_FENCED (another epoch).

Kafka has two more states, which no record ever holds and which are never entered here. It parks an id in
*PrepareEpochFence* between raising its epoch and deciding its abort, and in *Dead* between deciding to forget
it and having done so. Our decisions are single steps, so there is no between; the names remain because
administrators may ask for them.
"""

from collections.abc import Mapping
from enum import StrEnum

from penstock.model.errors import InvariantError


class TransactionState(StrEnum):
    """Where a transactional id stands; the value is Kafka's name for it."""

    EMPTY = "Empty"
    """No transaction since the producer got its identity.

    - InitProducerId: a new epoch, or a new id when epochs have run out → Empty
    - AddPartitionsToTxn, AddOffsetsToTxn: → Ongoing
    - EndTxn: INVALID_TXN_STATE; an abort by the second protocol (TV2) → PrepareAbort, since its client
      does not know whether a partition was added for it
    - idle for seven days → forgotten
    """

    ONGOING = "Ongoing"
    """A transaction is open.

    - InitProducerId: the transaction is aborted under a raised epoch → PrepareAbort; CONCURRENT_TRANSACTIONS
    - AddPartitionsToTxn, AddOffsetsToTxn: added; at once if they are there already → Ongoing
    - EndTxn: → PrepareCommit or PrepareAbort
    - timeout: aborted under a raised epoch → PrepareAbort
    """

    PREPARE_COMMIT = "PrepareCommit"
    """Decided: it is committed. Markers are on their way.

    - InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn: CONCURRENT_TRANSACTIONS
    - EndTxn: commit again CONCURRENT_TRANSACTIONS, abort INVALID_TXN_STATE
    - all markers written → CompleteCommit
    """

    PREPARE_ABORT = "PrepareAbort"
    """Decided: it is aborted. Markers are on their way.

    - InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn: CONCURRENT_TRANSACTIONS
    - EndTxn: abort again CONCURRENT_TRANSACTIONS, commit INVALID_TXN_STATE
    - all markers written → CompleteAbort
    """

    COMPLETE_COMMIT = "CompleteCommit"
    """The last transaction was committed, and everybody can see it.

    - InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, idleness: as in Empty
    - EndTxn: a repeated commit is answered like the first; else INVALID_TXN_STATE, or for an abort of the
      owner by TV2 → PrepareAbort
    """

    COMPLETE_ABORT = "CompleteAbort"
    """The last transaction was aborted, and nobody can see it.

    - InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, idleness: as in Empty
    - EndTxn: a repeated abort is answered like the first; else INVALID_TXN_STATE, or for an abort of the
      owner by TV2 → PrepareAbort
    """

    DEAD = "Dead"
    """Never entered: forgetting an id is one step."""

    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """Never entered: raising the epoch and deciding the abort is one step."""

    @property
    def is_decided(self) -> bool:
        """Whether the outcome is fixed while markers may still be missing."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)

    @property
    def is_at_rest(self) -> bool:
        """Whether there is no transaction: a new one may begin, the producer change, the id be forgotten."""
        return self in _AT_REST


_AT_REST = frozenset(
    {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
)

_FROM_REST = frozenset(
    # To PrepareAbort only by the second protocol, which may abort what was never begun.
    {TransactionState.EMPTY, TransactionState.ONGOING, TransactionState.PREPARE_ABORT}
)

EXITS: Mapping[TransactionState, frozenset[TransactionState]] = {
    TransactionState.EMPTY: _FROM_REST,
    TransactionState.ONGOING: frozenset(
        {TransactionState.ONGOING, TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT}
    ),
    TransactionState.PREPARE_COMMIT: frozenset({TransactionState.COMPLETE_COMMIT}),
    TransactionState.PREPARE_ABORT: frozenset({TransactionState.COMPLETE_ABORT}),
    TransactionState.COMPLETE_COMMIT: _FROM_REST,
    TransactionState.COMPLETE_ABORT: _FROM_REST,
    TransactionState.DEAD: frozenset(),
    TransactionState.PREPARE_EPOCH_FENCE: frozenset(),
}
"""Which state may follow which. An id at rest may also be forgotten, which leaves no state behind."""

STATUS_NUMBERS: Mapping[TransactionState, int] = {
    TransactionState.EMPTY: 0,
    TransactionState.ONGOING: 1,
    TransactionState.PREPARE_COMMIT: 2,
    TransactionState.PREPARE_ABORT: 3,
    TransactionState.COMPLETE_COMMIT: 4,
    TransactionState.COMPLETE_ABORT: 5,
    TransactionState.DEAD: 6,
    TransactionState.PREPARE_EPOCH_FENCE: 7,
}
"""How records name the states."""


class InvalidTransition(InvariantError):
    """A move that is not in the table: a bug of whoever decided it."""


def check_exit(origin: TransactionState, target: TransactionState, story: object) -> None:
    """Raise ``InvalidTransition`` unless the move is legal; ``story`` is what there is to tell about it."""
    if target not in EXITS[origin]:
        raise InvalidTransition(f"no way leads from {origin} to {target}: {story}")
