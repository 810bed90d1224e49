"""LeaveGroup (key 13): a member goes, or an administrator takes members out.

Versions 0 to 5.

Behaviour
    - Since version 3 every member has its own outcome: UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID. A static
      member may be named by its instance id alone, and members may be of either protocol.

Version notes
    3 many members; 4 flexible; 5 reason (KIP-800).
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: LeaveGroupRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
