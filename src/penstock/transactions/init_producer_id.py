"""InitProducerId with a transactional id: a producer gets an identity, and whoever had one before is fenced.

- A new transactional id gets a fresh producer id, epoch 0.
- A transaction that is open is aborted first, under a raised epoch; the producer is told to come back
  (CONCURRENT_TRANSACTIONS) until that is done. The same while a decided one is being completed.
- Otherwise the epoch is raised. When epochs have run out, a fresh producer id takes its place.
- A producer that names its identity (version 3, KIP-360) wants to go on after an error: it must be the owner,
  or have been it until the answer with its new identity was lost, which is then given again. Anybody else is
  fenced. Unlike in Kafka this also holds while a transaction is open: a producer that was fenced long ago
  cannot abort the transaction of its successor.

Identities without a transactional id are not the coordinator's business: any broker gives them out.
"""

from penstock.coordinator.outcome import ProducerEpoch
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NO_PRODUCER_ID, Millis
from penstock.transactions.change import Change
from penstock.transactions.metadata import NO_EPOCH, Claim, FreshId, TransactionMetadata
from penstock.transactions.owner import require_name, require_undecided
from penstock.transactions.settings import TransactionSettings
from penstock.transactions.state import TransactionState
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def decide_identity(
    current: TransactionMetadata | None,
    request: InitProducerIdRequest,
    *,
    settings: TransactionSettings,
    fresh_id: FreshId,
    now: Millis,
) -> Change:
    """Who the producer is from now on, or how its way is cleared."""
    transactional_id = require_name(request.transactional_id)
    _check_timeout(request, settings)
    claimed = _claimed_identity(request)
    if current is None:
        # Whatever identity a producer claims, an id that is unknown here has none to fence.
        timeout_ms = request.transaction_timeout_ms
        value = TransactionMetadata.create(
            transactional_id, producer_id=fresh_id(), timeout_ms=timeout_ms, now=now
        )
    elif claimed is None:
        value = _take_over(current, request, fresh_id, now)
    else:
        value = _renew(current, claimed, request, fresh_id=fresh_id, now=now)
    return Change(values=(value,), response=_response(value))


def _check_timeout(request: InitProducerIdRequest, settings: TransactionSettings) -> None:
    timeout_ms = request.transaction_timeout_ms
    if not 0 < timeout_ms <= settings.timeout_max_ms:
        raise ApiError(
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
            f"The transaction timeout is {timeout_ms} ms; it must be above 0 and at most "
            f"{settings.timeout_max_ms} ms (transaction.max.timeout.ms).",
        )


def _claimed_identity(request: InitProducerIdRequest) -> ProducerEpoch | None:
    has_id, has_epoch = request.producer_id != NO_PRODUCER_ID, request.producer_epoch != NO_EPOCH
    if has_id != has_epoch:
        raise ApiError(ErrorCode.INVALID_REQUEST, "A producer id and its epoch come together or not at all.")
    if not has_id:
        return None
    return ProducerEpoch(producer_id=request.producer_id, producer_epoch=request.producer_epoch)


def _take_over(
    current: TransactionMetadata, request: InitProducerIdRequest, fresh_id: FreshId, now: Millis
) -> TransactionMetadata:
    """A producer that has just started: nobody before it may go on."""
    require_undecided(current)
    if current.state is TransactionState.ONGOING:
        return current.prepare_fence(now=now, fresh_id=fresh_id)
    return current.prepare_take_over(timeout_ms=request.transaction_timeout_ms, now=now, fresh_id=fresh_id)


def _renew(
    current: TransactionMetadata,
    claimed: ProducerEpoch,
    request: InitProducerIdRequest,
    *,
    fresh_id: FreshId,
    now: Millis,
) -> TransactionMetadata:
    """KIP-360: the owner goes on after an error, with a new identity."""
    claim = current.claim_of(claimed)
    if claim is Claim.STRANGER:
        raise ApiError(
            ErrorCode.PRODUCER_FENCED,
            f"{current.transactional_id!r} does not belong to producer {claimed.producer_id} "
            f"at epoch {claimed.producer_epoch}.",
        )
    require_undecided(current)
    if current.state is TransactionState.ONGOING:
        return current.prepare_end_raising_epoch(is_commit=False, now=now, fresh_id=fresh_id)
    timeout_ms = request.transaction_timeout_ms
    if claim is Claim.FORMER:
        return current.prepare_repetition(timeout_ms=timeout_ms, now=now)
    return current.prepare_renewal(timeout_ms=timeout_ms, now=now, fresh_id=fresh_id)


def _response(value: TransactionMetadata) -> InitProducerIdResponse:
    if value.state.is_decided:
        return InitProducerIdResponse(
            error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_id=NO_PRODUCER_ID, producer_epoch=NO_EPOCH
        )
    return InitProducerIdResponse(producer_id=value.producer_id, producer_epoch=value.producer_epoch)
