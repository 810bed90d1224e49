"""ListPartitionReassignments (key 46): which partitions are on the move (KIP-455).

Version 0.

Behaviour
    - Null topics mean all. Partitions that are not on the move, or do not exist, are left out.
    - The answer is what the broker asked knows, which may be a moment behind the controller.
"""

from typing import TYPE_CHECKING

from penstock.metadata.reassignment import list_reassignments
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: ListPartitionReassignmentsRequest, header: RequestHeader
) -> ListPartitionReassignmentsResponse:
    """List the moves that this broker knows of."""
    return list_reassignments(broker.image, request)
