"""JoinGroup (key 11): a member asks to be in the next generation of its group.

Versions 0 to 9.

Behaviour
    - The answer is held until the generation is decided: all members have come, or the time to come is over.
    - MEMBER_ID_REQUIRED (since 4) gives a new member its id, with which it asks again; so a client that gives
      up leaves no ghost.
    - The leader's answer tells it who is in; it assigns, and says so with SyncGroup.
    - Refusals: INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID,
      GROUP_MAX_SIZE_REACHED, FENCED_INSTANCE_ID, NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS.

Version notes
    1 rebalance timeout; 4 member ids first (KIP-394); 5 static members (KIP-345); 6 flexible; 7 protocol
    type; 8 reason; 9 the leader may skip the assignment (KIP-814).
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: JoinGroupRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
