"""OffsetCommit (key 8): remember how far a group has come.

Versions 2 to 10.

Behaviour
    - The answer comes when the offsets are committed to ``__consumer_offsets``.
    - A negative generation comes from outside: allowed while the group has no members.
    - Refusals, for each partition: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, STALE_MEMBER_EPOCH,
      REBALANCE_IN_PROGRESS, OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID.

Version notes
    5 no retention time; 6 leader epochs; 7 static members; 8 flexible; 9 consumer groups (KIP-848); 10 topic
    ids.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: OffsetCommitRequest, header: RequestHeader) -> Struct:
    """Have the group decide."""
    return await broker.groups.ask(request.group_id, request, header)
