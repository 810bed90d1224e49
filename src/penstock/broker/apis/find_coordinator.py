"""FindCoordinator (key 10): which broker looks after a group or a transactional id.

Versions 0 to 6.

Behaviour
    - There are no coordinators yet: every key is answered with COORDINATOR_NOT_AVAILABLE, as Kafka does while
      its internal topics are being made, so clients ask again later and go on with what needs no group.
    - A key type that does not exist is INVALID_REQUEST.
    - It is served all the same because librdkafka compresses with lz4 only for brokers that advertise it.

Version notes
    1 key types; 4 many keys at once (KIP-699); 6 share groups (KIP-932).
"""

from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.find_coordinator import (
    GROUP,
    SHARE,
    TRANSACTION,
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_MANY_KEYS = 4
NOWHERE = -1

_MESSAGES = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.INVALID_REQUEST: "There is no such type of coordinator.",
}


async def handle(
    broker: "Broker", request: FindCoordinatorRequest, header: RequestHeader
) -> FindCoordinatorResponse:
    """Say for every key that nobody looks after it."""
    is_known = request.key_type in (GROUP, TRANSACTION, SHARE)
    error = ErrorCode.COORDINATOR_NOT_AVAILABLE if is_known else ErrorCode.INVALID_REQUEST
    if header.api_version < FIRST_VERSION_WITH_MANY_KEYS:
        return FindCoordinatorResponse(
            error_code=error, error_message=_MESSAGES[error], node_id=NOWHERE, host="", port=NOWHERE
        )
    return FindCoordinatorResponse(
        coordinators=tuple(_nobody_for(key, error) for key in request.coordinator_keys)
    )


def _nobody_for(key: str, error: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, node_id=NOWHERE, host="", port=NOWHERE, error_code=error, error_message=_MESSAGES[error]
    )
