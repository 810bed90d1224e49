"""BrokerHeartbeat (key 63, between brokers): a broker says it lives, and asks to be let in or to be let go.

Versions 0 to 2.

Behaviour
    - A broker is let in when it has followed the metadata log up to its own registration, and let go when
      everybody has heard that it leads nothing more.
    - When the connection breaks on which it came, the broker is shut out unless it is heard of soon.
    - Refusals: NOT_CONTROLLER; BROKER_ID_NOT_REGISTERED and STALE_BROKER_EPOCH, after which it is to register
      again.

Version notes
    1 directories that failed; 2 directories that take nothing new. Both are ignored: there is one directory,
    and a broker without it ends.
"""

from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: BrokerHeartbeatRequest, header: RequestHeader
) -> BrokerHeartbeatResponse:
    """Note that a broker lives, if this is the controller."""
    try:
        response = await broker.controller.heartbeat(request)
    except ApiError as error:
        return BrokerHeartbeatResponse(error_code=error.code)
    if response.error_code == ErrorCode.NONE:
        broker.controller.note_connection(NodeId(request.broker_id), header.when_connection_is_lost)
    return response
