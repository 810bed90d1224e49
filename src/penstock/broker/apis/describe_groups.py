"""DescribeGroups (key 15): state, protocol and members of groups.

Versions 0 to 6.

Behaviour
    - A group that does not exist is Dead; since version 6 it is GROUP_ID_NOT_FOUND.
    - Every group asked about is in the answer.

Version notes
    3 authorized operations; 4 static members; 5 flexible; 6 GROUP_ID_NOT_FOUND.
"""

from typing import TYPE_CHECKING, cast

from penstock.broker.coordination.many_keys import ask_each
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeGroupsRequest, header: RequestHeader
) -> DescribeGroupsResponse:
    """Ask every group's shard."""
    asked = request.include_authorized_operations
    parts = [
        (group_id, DescribeGroupsRequest(groups=(group_id,), include_authorized_operations=asked))
        for group_id in request.groups
    ]
    answers = cast("list[DescribeGroupsResponse]", await ask_each(broker.groups, parts, header))
    return DescribeGroupsResponse(groups=tuple(group for answer in answers for group in answer.groups))
