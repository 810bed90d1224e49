"""AlterPartitionReassignments (key 45): move replicas to other brokers, or stop doing so (KIP-455).

Versions 0 to 1.

Behaviour
    - Partitions are decided on each by itself. The answer comes when the moves have begun, which is long
      before they are done; ListPartitionReassignments tells how far they are.
    - A null list of replicas stops a move and goes back to where it began.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION; INVALID_REPLICA_ASSIGNMENT (nobody, somebody twice, somebody
      unknown, or a way back without a replica that has everything); NO_REASSIGNMENT_IN_PROGRESS;
      INVALID_REPLICATION_FACTOR (another number of replicas, when that is not allowed).

Version notes
    1 the number of replicas may be kept from changing (KIP-860).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.reassignment import alter_reassignments
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: AlterPartitionReassignmentsRequest, header: RequestHeader
) -> AlterPartitionReassignmentsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(alter_reassignments, request=request)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return AlterPartitionReassignmentsResponse(error_code=error.code, error_message=error.message)
