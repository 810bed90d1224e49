"""ElectLeaders (key 43): have preferred replicas lead again, or let one lead that may lack records.

Versions 0 to 2.

Behaviour
    - Partitions are decided on each by itself; null means all, and then only those that needed it are told.
    - The answer comes when the elections are in the metadata log; the new leaders learn of it like everybody.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION; ELECTION_NOT_NEEDED; PREFERRED_LEADER_NOT_AVAILABLE;
      ELIGIBLE_LEADERS_NOT_AVAILABLE; for all of it INVALID_REQUEST (no such kind of election), and
      NOT_CONTROLLER while there is no controller.

Version notes
    1 unclean elections (KIP-460); 2 flexible.
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.leader_election import elect_leaders
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: ElectLeadersRequest, header: RequestHeader
) -> ElectLeadersResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(elect_leaders, request=request)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: ElectLeadersRequest, error: ApiError) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=error.code,
        replica_election_results=tuple(
            ReplicaElectionResult(
                topic=each.topic,
                partition_result=tuple(
                    PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)
                    for index in each.partitions
                ),
            )
            for each in request.topic_partitions or ()
        ),
    )
