"""AlterPartition (key 56, between brokers): a leader asks the controller for other in-sync sets.

Versions 2 to 3.

Behaviour
    - Partitions are decided on each by itself; the answer comes when the sets are in the metadata log, which
      alone has the last word on them.
    - Refusals of all: NOT_CONTROLLER; BROKER_ID_NOT_REGISTERED; STALE_BROKER_EPOCH. Of a partition:
      UNKNOWN_TOPIC_ID; UNKNOWN_TOPIC_OR_PARTITION; FENCED_LEADER_EPOCH; INVALID_UPDATE_VERSION (the partition
      has changed since); INELIGIBLE_REPLICA; INVALID_REQUEST; NEW_LEADER_ELECTED; NOT_CONTROLLER (the leader
      has seen more than this controller).

Version notes
    2 topics by id; 3 members with their broker epochs (KIP-903).
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: AlterPartitionRequest, header: RequestHeader
) -> AlterPartitionResponse:
    """Decide on in-sync sets, if this is the controller."""
    try:
        return await broker.controller.alter_partition(request, header.api_version)
    except ApiError as error:
        return AlterPartitionResponse(error_code=error.code)
