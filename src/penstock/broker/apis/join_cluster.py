"""JoinCluster (key 10100, private): a new broker asks any live one who it is to be.

Version 0.

Behaviour
    - A new directory gets the next free id, or the one it asks for; asked again, the same. The answer comes
      when that is in the metadata log, on disk.
    - Refusals: INCONSISTENT_CLUSTER_ID; DUPLICATE_BROKER_REGISTRATION (another directory has the id);
      INVALID_REGISTRATION (the directory has no id, or a broker has it under another number);
      POLICY_VIOLATION (more brokers than a cluster may have); NOT_CONTROLLER while nobody can decide.
"""

from typing import TYPE_CHECKING

from penstock.metadata.image import ClusterImage
from penstock.metadata.joining import join_cluster
from penstock.metadata.result import Result
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.join_cluster import JoinClusterRequest, JoinClusterResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: JoinClusterRequest, header: RequestHeader) -> JoinClusterResponse:
    """Have the controller decide, and answer when its decision is in force."""

    def decide(image: ClusterImage, offset: int) -> Result[JoinClusterResponse]:
        voters = {key.node_id: key.directory_id for key in broker.quorum.voters.keys}
        return join_cluster(image, request, cluster_id=broker.cluster_id, voters=voters, next_offset=offset)

    try:
        return await broker.control.decide_or_forward_at(request, header, decide)
    except ApiError as error:
        return JoinClusterResponse(error_code=error.code, error_message=error.message)
