"""ConsumerGroupHeartbeat (key 68): the one request by which a member of a consumer group lives (KIP-848).

Versions 0 to 1.

Behaviour
    - Epoch 0 joins, -1 leaves, -2 leaves for a while (static members). Anything else says that the member is
      alive, and what it holds.
    - The answer carries the member's epoch and, when it has changed, what it may hold; the coordinator
      assigns.
    - Refusals: UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID,
      UNSUPPORTED_ASSIGNOR, INVALID_REGULAR_EXPRESSION, GROUP_MAX_SIZE_REACHED, INVALID_REQUEST.

Version notes
    1 subscription by pattern, member ids made by clients.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: ConsumerGroupHeartbeatRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
