"""FindCoordinator (key 10): which broker looks after a group or a transactional id.

Versions 0 to 6.

Behaviour
    - The leader of the partition that keeps the key, as the metadata says; every broker knows. The internal
      topic is made when first asked for.
    - COORDINATOR_NOT_AVAILABLE while it cannot be made, or its partition has no leader.
    - INVALID_REQUEST for a type of key that does not exist. Share groups (type 2) have no coordinator yet:
      COORDINATOR_NOT_AVAILABLE.

Version notes
    1 key types; 4 many keys at once (KIP-699); 6 share groups (KIP-932).
"""

from typing import TYPE_CHECKING

from penstock.broker.coordination.coordinator import Coordinator as ShardCoordinator
from penstock.config.listeners import PLAINTEXT
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
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
    """Say for every key who looks after it."""
    has_many = header.api_version >= FIRST_VERSION_WITH_MANY_KEYS
    keys = request.coordinator_keys if has_many else (request.key,)
    try:
        coordinator = await _coordinator(broker, request.key_type)
        found = [_locate(broker, coordinator, key) for key in keys]
    except ApiError as error:
        found = [_nobody_for(key, error.code) for key in keys]
    if has_many:
        return FindCoordinatorResponse(coordinators=tuple(found))
    (only,) = found
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


async def _coordinator(broker: "Broker", key_type: int) -> ShardCoordinator:
    if key_type == SHARE:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if key_type not in (GROUP, TRANSACTION):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    coordinator = broker.groups if key_type == GROUP else broker.transactions
    await coordinator.ensure_topic()
    return coordinator


def _locate(broker: "Broker", coordinator: ShardCoordinator, key: str) -> Coordinator:
    topic = broker.image.topics.get(coordinator.kind.topic)
    if topic is None:
        return _nobody_for(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    leader = broker.image.brokers.get(topic.partitions[coordinator.index_for(key)].leader)
    endpoint = None if leader is None or leader.is_fenced else leader.endpoint(PLAINTEXT)
    if leader is None or endpoint is None:
        return _nobody_for(key, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return Coordinator(
        key=key, node_id=leader.node_id, host=endpoint.host, port=endpoint.port, error_message=None
    )


def _nobody_for(key: str, error: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, node_id=NOWHERE, host="", port=NOWHERE, error_code=error, error_message=_MESSAGES[error]
    )
