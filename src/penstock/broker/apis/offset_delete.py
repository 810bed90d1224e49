"""OffsetDelete (key 47): forget offsets of a group.

Version 0.

Behaviour
    - For each partition: GROUP_SUBSCRIBED_TO_TOPIC while a member reads the topic, or
      UNKNOWN_TOPIC_OR_PARTITION.
    - For the whole request: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.offset_delete import OffsetDeleteRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: OffsetDeleteRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
