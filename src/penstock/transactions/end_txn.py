"""EndTxn: the owner of a transaction commits or aborts it.

The two tables below are the whole decision. The first protocol (TV1) keeps the epoch, so a repeated request
looks like the first one, and so, sadly, does a late one of the transaction before. The second (TV2, from
version 5) raises it, so the *former* identity marks a repetition and the owner's is always a new request. A
TV2 client cannot know whether a partition was added for it before it wants to abort; it may therefore abort
what was never begun.

What a table does not list is refused: an unknown producer id with INVALID_PRODUCER_ID_MAPPING, another epoch
with PRODUCER_FENCED.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from penstock.coordinator.outcome import ProducerEpoch
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.transactions.change import Change
from penstock.transactions.metadata import Claim, FreshId, TransactionMetadata
from penstock.transactions.owner import refuse_stranger, require_known
from penstock.transactions.state import TransactionState
from penstock.transactions.version import version_of_end_txn
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


class Verdict(Enum):
    """What to do with an EndTxn that is not refused."""

    END = auto()
    """Decide the transaction."""
    REPEAT = auto()
    """It was decided so before: answer like then."""


class Answers(NamedTuple):
    """To an abort and to a commit."""

    abort: Verdict | ErrorCode
    commit: Verdict | ErrorCode


_END, _REPEAT = Verdict.END, Verdict.REPEAT
_INVALID, _FENCED = ErrorCode.INVALID_TXN_STATE, ErrorCode.PRODUCER_FENCED
_CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS

TV1_ANSWERS: Mapping[TransactionState, Answers] = {
    TransactionState.EMPTY: Answers(abort=_INVALID, commit=_INVALID),
    TransactionState.ONGOING: Answers(abort=_END, commit=_END),
    TransactionState.PREPARE_COMMIT: Answers(abort=_INVALID, commit=_CONCURRENT),
    TransactionState.PREPARE_ABORT: Answers(abort=_CONCURRENT, commit=_INVALID),
    TransactionState.COMPLETE_COMMIT: Answers(abort=_INVALID, commit=_REPEAT),
    TransactionState.COMPLETE_ABORT: Answers(abort=_REPEAT, commit=_INVALID),
}
"""To the owner; the former owner is fenced in every state."""

TV2_ANSWERS: Mapping[tuple[TransactionState, Claim], Answers] = {
    (TransactionState.EMPTY, Claim.FORMER): Answers(abort=_FENCED, commit=_FENCED),
    (TransactionState.EMPTY, Claim.OWNER): Answers(abort=_END, commit=_INVALID),
    (TransactionState.ONGOING, Claim.OWNER): Answers(abort=_END, commit=_END),
    (TransactionState.PREPARE_COMMIT, Claim.FORMER): Answers(abort=_INVALID, commit=_CONCURRENT),
    (TransactionState.PREPARE_COMMIT, Claim.OWNER): Answers(abort=_CONCURRENT, commit=_CONCURRENT),
    (TransactionState.PREPARE_ABORT, Claim.FORMER): Answers(abort=_CONCURRENT, commit=_INVALID),
    (TransactionState.PREPARE_ABORT, Claim.OWNER): Answers(abort=_CONCURRENT, commit=_CONCURRENT),
    (TransactionState.COMPLETE_COMMIT, Claim.FORMER): Answers(abort=_INVALID, commit=_REPEAT),
    (TransactionState.COMPLETE_COMMIT, Claim.OWNER): Answers(abort=_END, commit=_INVALID),
    (TransactionState.COMPLETE_ABORT, Claim.FORMER): Answers(abort=_REPEAT, commit=_INVALID),
    (TransactionState.COMPLETE_ABORT, Claim.OWNER): Answers(abort=_END, commit=_INVALID),
}
"""While a decision is being completed its owner, who may know its new identity already, has to wait."""


def decide_end(
    current: TransactionMetadata | None,
    request: EndTxnRequest,
    *,
    api_version: int,
    fresh_id: FreshId,
    now: Millis,
) -> Change:
    """The decision, which the client hears of as soon as it is committed: markers follow by themselves."""
    known = require_known(current, request.transactional_id)
    identity = ProducerEpoch(producer_id=request.producer_id, producer_epoch=request.producer_epoch)
    if version_of_end_txn(api_version).raises_epoch:
        return _end_by_second_protocol(known, identity, request.committed, fresh_id=fresh_id, now=now)
    return _end_by_first_protocol(known, identity, request.committed, now=now)


def _end_by_first_protocol(
    current: TransactionMetadata, identity: ProducerEpoch, is_commit: bool, *, now: Millis
) -> Change:
    if current.claim_of(identity) is not Claim.OWNER:
        raise refuse_stranger(current, identity)
    verdict = _verdict(current, TV1_ANSWERS[current.state], is_commit)
    if verdict is Verdict.REPEAT:
        return Change(response=EndTxnResponse())
    return Change(values=(current.prepare_end(is_commit=is_commit, now=now),), response=EndTxnResponse())


def _end_by_second_protocol(
    current: TransactionMetadata, identity: ProducerEpoch, is_commit: bool, *, fresh_id: FreshId, now: Millis
) -> Change:
    answers = TV2_ANSWERS.get((current.state, current.claim_of(identity)))
    if answers is None:
        raise refuse_stranger(current, identity)
    if _verdict(current, answers, is_commit) is Verdict.REPEAT:
        return Change(response=_identity_response(current))
    ended = current.prepare_end_raising_epoch(is_commit=is_commit, now=now, fresh_id=fresh_id)
    return Change(values=(ended,), response=_identity_response(ended))


def _verdict(current: TransactionMetadata, answers: Answers, is_commit: bool) -> Verdict:
    answer = answers.commit if is_commit else answers.abort
    if isinstance(answer, ErrorCode):
        what = "Commit" if is_commit else "Abort"
        raise ApiError(answer, f"{what} of {current.transactional_id!r}, which is in state {current.state}.")
    return answer


def _identity_response(value: TransactionMetadata) -> EndTxnResponse:
    """With what the owner opens its next transaction."""
    identity = value.identity
    return EndTxnResponse(producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)
