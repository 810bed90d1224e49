"""SyncGroup (key 14): a member asks for its part; the leader brings everybody's.

Versions 0 to 5.

Behaviour
    - Held until the leader has spoken and its assignment is committed.
    - Refusals: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, INCONSISTENT_GROUP_PROTOCOL,
      FENCED_INSTANCE_ID.

Version notes
    3 static members; 4 flexible; 5 protocol type and name.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.sync_group import SyncGroupRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: SyncGroupRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
