"""Heartbeat (key 12): a member says that it lives, and learns whether it has to join again.

Versions 0 to 4.

Behaviour
    - REBALANCE_IN_PROGRESS asks the member to join again; it is still in the group.
    - Refusals: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, FENCED_INSTANCE_ID.

Version notes
    3 static members; 4 flexible.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: HeartbeatRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
