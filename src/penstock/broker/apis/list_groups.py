"""ListGroups (key 16): the groups that this broker looks after.

Versions 0 to 5.

Behaviour
    - While a shard is loading the answer is COORDINATOR_LOAD_IN_PROGRESS: half a list would look like a
      whole one.
    - Filters by state and type ignore case; an empty one lets all through.

Version notes
    3 flexible; 4 states (KIP-518); 5 types (KIP-848).
"""

import asyncio
from typing import TYPE_CHECKING, cast

from penstock.model.error_codes import ErrorCode
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: ListGroupsRequest, header: RequestHeader) -> ListGroupsResponse:
    """Ask every shard."""
    asked = [host.ask(request, header) for host in broker.groups.hosts]
    answers = cast("list[ListGroupsResponse]", await asyncio.gather(*asked))
    for answer in answers:
        if answer.error_code not in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR):
            return ListGroupsResponse(error_code=answer.error_code)
    return ListGroupsResponse(groups=tuple(group for answer in answers for group in answer.groups))
