"""ConsumerGroupDescribe (key 69): state, epochs and members of consumer groups (KIP-848).

Versions 0 to 1.

Behaviour
    - A group that does not exist, or is of another kind, is GROUP_ID_NOT_FOUND; clients then ask with
      DescribeGroups. Every group asked about is in the answer: librdkafka counts on it.

Version notes
    1 says by which protocol a member takes part.
"""

from typing import TYPE_CHECKING, cast

from penstock.broker.coordination.many_keys import ask_each
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: ConsumerGroupDescribeRequest, header: RequestHeader
) -> ConsumerGroupDescribeResponse:
    """Ask every group's shard."""
    asked = request.include_authorized_operations
    parts = [
        (group_id, ConsumerGroupDescribeRequest(group_ids=(group_id,), include_authorized_operations=asked))
        for group_id in request.group_ids
    ]
    answers = cast("list[ConsumerGroupDescribeResponse]", await ask_each(broker.groups, parts, header))
    return ConsumerGroupDescribeResponse(groups=tuple(group for answer in answers for group in answer.groups))
