"""OffsetFetch (key 9): how far has a group come?

Versions 1 to 10.

Behaviour
    - A group or partition without offsets is no error: its offset is -1.
    - With ``require_stable``, offsets that an open transaction may still change are UNSTABLE_OFFSET_COMMIT.
    - Null topics ask for all there are.
    - A member of a consumer group may say who it is: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH.

Version notes
    2 all topics, an error for the group; 5 leader epochs; 6 flexible; 7 stable offsets (KIP-447); 8 many
    groups (KIP-709); 9 members of consumer groups (KIP-848); 10 topic ids.
"""

from typing import TYPE_CHECKING, cast

from penstock.broker.coordination.many_keys import ask_each
from penstock.groups.refusals import MANY_GROUPS_SINCE_VERSION
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: OffsetFetchRequest, header: RequestHeader) -> Struct:
    """Ask the group's shard, or every group's."""
    if header.api_version < MANY_GROUPS_SINCE_VERSION:
        return await broker.groups.ask(request.group_id, request, header)
    parts = [
        (group.group_id, OffsetFetchRequest(groups=(group,), require_stable=request.require_stable))
        for group in request.groups
    ]
    answers = cast("list[OffsetFetchResponse]", await ask_each(broker.groups, parts, header))
    return OffsetFetchResponse(groups=tuple(group for answer in answers for group in answer.groups))
