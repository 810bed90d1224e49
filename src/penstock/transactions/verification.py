"""The leaders' part: which transactional batches, and which markers, may enter a partition's log.

A batch that arrives late (KIP-890, part 1). A transaction ends while one of its batches is still on its way.
If the leader appended it after the marker, it would open a transaction that nobody will ever end: readers of
committed records would wait for ever. So before the first batch of a transaction is appended, the coordinator
is asked whether the partition is in it (TV1), or to add it (TV2). By the time the answer arrives the
transaction may have ended; the *guard* that was taken before asking tells, because a marker takes it away.

Batches that change places. A producer that is new to a partition may begin at any sequence there, so if the
coordinator's word for its first batch was no, or came late, the second could slip in before it. Each guard
therefore knows the lowest sequence it has seen, and nothing but that may open the transaction in the log. In
the second protocol the log knows every producer that is not new: one that it does not know begins at 0.

A marker that arrives twice. In the second protocol a marker has a higher epoch than everything it ends, and
the next transaction has the marker's. A copy that is late could therefore end the next transaction; it is
known by not being higher than what the log has seen, and has then been written before.
"""

from enum import Enum, auto
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import VERIFICATIONS_PER_PARTITION_MAX
from penstock.records.batch import SEQUENCE_MAX
from penstock.transactions.version import TransactionVersion

_ABORTABLE_KNOWN_FROM = 11
_TV2_PRODUCE_FROM = 12
_OFFSETS_LOADING_KNOWN_FROM = 2
_OFFSETS_ABORTABLE_KNOWN_FROM = 4
_TV2_OFFSETS_FROM = 5

_COORDINATOR_TROUBLE = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)


class _Guard(NamedTuple):
    """What stands between a producer's question and its first batch in the log."""

    producer_epoch: int
    number: int
    lowest_sequence: int


class Verifications:
    """The batches of one partition that wait for the coordinator's word.

    The shell takes a guard, asks, and appends only if the guard still stands, all of one batch before it
    looks at the producer's next. Bounded: the oldest guards are lost first, and their batches refused.
    """

    __slots__ = ("_guards", "_newest")

    def __init__(self) -> None:
        #: By producer id, oldest first; only while no transaction of it is open in the log.
        self._guards: dict[int, _Guard] = {}
        self._newest = 0

    def __len__(self) -> int:
        return len(self._guards)

    def begin(self, producer_id: int, producer_epoch: int, *, sequence: int = 0) -> int:
        """The guard to hold while the coordinator is asked; batches in flight together share one.

        ``sequence`` is the batch's first; what coordinators write has none.
        """
        known = self._guards.get(producer_id)
        if known is not None and known.producer_epoch == producer_epoch:
            if _is_before(sequence, known.lowest_sequence):
                self._guards[producer_id] = known._replace(lowest_sequence=sequence)
            return known.number
        if known is not None and known.producer_epoch > producer_epoch:
            raise ApiError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Producer {producer_id} uses epoch {producer_epoch}; "
                f"epoch {known.producer_epoch} has taken over.",
            )
        self._newest += 1
        self._guards.pop(producer_id, None)
        self._guards[producer_id] = _Guard(producer_epoch, self._newest, sequence)
        if len(self._guards) > VERIFICATIONS_PER_PARTITION_MAX:
            del self._guards[next(iter(self._guards))]
        return self._newest

    def check(
        self, producer_id: int, producer_epoch: int, guard: int, *, produce_version: int, sequence: int = 0
    ) -> None:
        """Raise unless nothing has ended the transaction since the guard was taken.

        Not to be asked when the producer's transaction is open in the log by now, at this epoch: a batch that
        was in flight together with this one has opened it, and the guard is gone for that reason.
        """
        known = self._guards.get(producer_id)
        if known is None or (known.producer_epoch, known.number) != (producer_epoch, guard):
            raise ApiError(
                _not_in_transaction(produce_version),
                f"The transaction of producer {producer_id} ended before its batch could be appended.",
            )
        if _is_before(known.lowest_sequence, sequence):
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Producer {producer_id} sent sequence {sequence}; {known.lowest_sequence} comes before it.",
            )

    def check_offsets(
        self, producer_id: int, producer_epoch: int, guard: int, *, offset_commit_version: int
    ) -> None:
        """As ``check``, for the offsets of a group, in the words of TxnOffsetCommit."""
        is_abortable_known = offset_commit_version >= _OFFSETS_ABORTABLE_KNOWN_FROM
        produce_version = _ABORTABLE_KNOWN_FROM if is_abortable_known else 0
        self.check(producer_id, producer_epoch, guard, produce_version=produce_version)

    def end(self, producer_id: int) -> None:
        """The transaction is open in the log, which vouches for later batches."""
        self._guards.pop(producer_id, None)

    def end_by_marker(self, producer_id: int, marker_epoch: int, version: TransactionVersion) -> None:
        """A marker has ended the transaction; not one that has its epoch already, where markers raise it.

        A producer of the second protocol sends its next batch while the marker is on its way to other
        brokers: the coordinator has answered it long before.
        """
        guard = self._guards.get(producer_id)
        if guard is not None and (guard.producer_epoch < marker_epoch or not version.raises_epoch):
            del self._guards[producer_id]


def is_verify_only(produce_version: int) -> bool:
    """Whether to ask only (the client has added the partition itself), or to add it for the client (TV2)."""
    return produce_version < _TV2_PRODUCE_FROM


def check_first_sequence(producer_id: int, sequence: int, *, is_known: bool, produce_version: int) -> None:
    """Raise unless a transaction may begin at this sequence in a log that knows its producer, or does not.

    In the first protocol the past of a producer that is not known may have aged out of the log.
    """
    if not is_known and sequence != 0 and not is_verify_only(produce_version):
        raise ApiError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Producer {producer_id} is new to the partition and began with sequence {sequence}, not 0.",
        )


def produce_error(code: ErrorCode, produce_version: int) -> ErrorCode:
    """What a producer is told when the coordinator says no.

    Trouble in finding the coordinator's word becomes an error that every client has always retried.
    """
    if code in _COORDINATOR_TROUBLE:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    if code is ErrorCode.CONCURRENT_TRANSACTIONS and produce_version < _TV2_PRODUCE_FROM:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code in (ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE):
        return _not_in_transaction(produce_version)
    return code


def is_offset_verify_only(offset_commit_version: int) -> bool:
    """As ``is_verify_only``, for the partition that keeps a group's offsets."""
    return offset_commit_version < _TV2_OFFSETS_FROM


def offset_error(code: ErrorCode, offset_commit_version: int) -> ErrorCode:
    """What a producer that commits offsets is told when the coordinator says no."""
    is_verify_only = is_offset_verify_only(offset_commit_version)
    if code in _COORDINATOR_TROUBLE or (code is ErrorCode.CONCURRENT_TRANSACTIONS and is_verify_only):
        is_loading_known = offset_commit_version >= _OFFSETS_LOADING_KNOWN_FROM
        trouble = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return trouble if is_loading_known else ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code in (ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE):
        is_abortable_known = offset_commit_version >= _OFFSETS_ABORTABLE_KNOWN_FROM
        return ErrorCode.TRANSACTION_ABORTABLE if is_abortable_known else ErrorCode.INVALID_TXN_STATE
    return code


class MarkerVerdict(Enum):
    """What to do with a marker."""

    APPEND = auto()
    ALREADY_WRITTEN = auto()
    """Report success and append nothing."""


def judge_marker(*, marker_epoch: int, known_epoch: int | None, version: TransactionVersion) -> MarkerVerdict:
    """Compare a marker with the producer's epoch in the log, if it has one; a former epoch is refused."""
    if known_epoch is None or marker_epoch > known_epoch:
        return MarkerVerdict.APPEND
    if marker_epoch < known_epoch:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"A marker has epoch {marker_epoch}; epoch {known_epoch} has taken over.",
        )
    return MarkerVerdict.ALREADY_WRITTEN if version.raises_epoch else MarkerVerdict.APPEND


def _not_in_transaction(produce_version: int) -> ErrorCode:
    is_abortable_known = produce_version >= _ABORTABLE_KNOWN_FROM
    return ErrorCode.TRANSACTION_ABORTABLE if is_abortable_known else ErrorCode.INVALID_TXN_STATE


def _is_before(sequence: int, other: int) -> bool:
    """Whether a sequence comes before another; 0 follows the largest."""
    return sequence != other and ((other - sequence) & SEQUENCE_MAX) <= SEQUENCE_MAX >> 1
