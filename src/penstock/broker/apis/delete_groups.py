"""DeleteGroups (key 42): forget groups that have no members, with their offsets.

Versions 0 to 2.

Behaviour
    - Each group has its own outcome: NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND.

Version notes
    2 flexible.
"""

from typing import TYPE_CHECKING, cast

from penstock.broker.coordination.many_keys import ask_each
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DeleteGroupsRequest, header: RequestHeader
) -> DeleteGroupsResponse:
    """Ask every group's shard."""
    parts = [(name, DeleteGroupsRequest(groups_names=(name,))) for name in request.groups_names]
    answers = cast("list[DeleteGroupsResponse]", await ask_each(broker.groups, parts, header))
    return DeleteGroupsResponse(results=tuple(result for answer in answers for result in answer.results))
