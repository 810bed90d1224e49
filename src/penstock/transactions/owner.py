"""Who is let in: the checks that several requests share."""

from penstock.coordinator.outcome import ProducerEpoch
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import TRANSACTIONAL_ID_LENGTH_MAX
from penstock.transactions.metadata import Claim, TransactionMetadata


def require_name(transactional_id: str | None) -> str:
    """The name of a transactional id, which is neither empty nor endless."""
    if not transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST, "The transactional id is empty.")
    if len(transactional_id) > TRANSACTIONAL_ID_LENGTH_MAX:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"The transactional id has {len(transactional_id)} characters; "
            f"the limit is {TRANSACTIONAL_ID_LENGTH_MAX}.",
        )
    return transactional_id


def require_known(current: TransactionMetadata | None, transactional_id: str) -> TransactionMetadata:
    """The id's state; one that is unknown belongs to no producer."""
    name = require_name(transactional_id)
    if current is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, f"Transactional id {name!r} is not known.")
    return current


def require_owner(current: TransactionMetadata, identity: ProducerEpoch) -> None:
    """Let only the owner go on, and only while no decision is being completed."""
    if current.claim_of(identity) is not Claim.OWNER:
        raise refuse_stranger(current, identity)
    require_undecided(current)


def require_undecided(current: TransactionMetadata) -> None:
    """Let nobody go on while a decision is being completed; they are to come back."""
    if current.state.is_decided:
        raise ApiError(
            ErrorCode.CONCURRENT_TRANSACTIONS,
            f"The last transaction of {current.transactional_id!r} is being completed.",
        )


def refuse_stranger(current: TransactionMetadata, identity: ProducerEpoch) -> ApiError:
    """What to tell somebody who is not the owner: wrong about the producer id, or late by an epoch."""
    spoken = f"producer {identity.producer_id} at epoch {identity.producer_epoch}"
    if identity.producer_id not in (current.producer_id, current.identity.producer_id):
        return ApiError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            f"{current.transactional_id!r} does not belong to {spoken}.",
        )
    return ApiError(
        ErrorCode.PRODUCER_FENCED,
        f"{current.transactional_id!r} belonged to {spoken}, but somebody has taken over.",
    )
