"""JoinCluster: a directory that wants to become a broker gets an id, once and for all.

The id is remembered in the metadata log, by the registration of a broker that has not started yet: fenced,
and of no process. So two that join at once get two ids, and one that asks twice gets one.
"""

from collections.abc import Mapping

from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import message_of
from penstock.metadata.records import BrokerEndpoint, RegisterBrokerRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.limits import BROKERS_PER_CLUSTER_MAX
from penstock.wire.messages.join_cluster import (
    JoinClusterRequest,
    JoinClusterResponse,
    JoinEndpoint,
    JoinVoter,
)

FIRST_NODE_ID = 1
_NO_DIRECTORY = bytes(16)

Voters = Mapping[NodeId, bytes]
"""Who decides on metadata: node ids, and the directories they do so from."""


def join_cluster(
    image: ClusterImage,
    request: JoinClusterRequest,
    *,
    cluster_id: str,
    voters: Voters,
    next_offset: int,
) -> Result[JoinClusterResponse]:
    """Say who a new broker is; ``next_offset`` is where the records will begin in the metadata log."""
    try:
        _check(request, cluster_id)
        known = node_of_directory(image, request.directory_id)
        if known is not None:
            return Result(records=(), response=_welcome(image, known, cluster_id, voters))
        node_id = next_node_id(image, voters)
    except ApiError as error:
        response = JoinClusterResponse(error_code=error.code, error_message=message_of(error))
        return Result(records=(), response=response)
    record = RegisterBrokerRecord(
        broker_id=node_id,
        broker_epoch=next_offset,
        end_points=tuple(
            BrokerEndpoint(
                name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
            )
            for each in request.endpoints
        ),
        rack=request.rack,
        fenced=True,
        log_dirs=(request.directory_id,),
    )
    return Result(records=(record,), response=_welcome(image, node_id, cluster_id, voters))


def node_of_directory(image: ClusterImage, directory_id: bytes) -> NodeId | None:
    """Whose directory it is."""
    return next((each.node_id for each in image.brokers.values() if directory_id in each.directories), None)


def next_node_id(image: ClusterImage, voters: Voters) -> NodeId:
    """The next free id; POLICY_VIOLATION when there are too many brokers."""
    if len(image.brokers) >= BROKERS_PER_CLUSTER_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, f"A cluster may have {BROKERS_PER_CLUSTER_MAX} brokers.")
    # Replicas of forgotten brokers may still be named in partitions; their ids are not free.
    held = (id for topic in image.topics.values() for each in topic.partitions for id in each.replicas)
    return NodeId(max((*image.brokers, *voters, *held, FIRST_NODE_ID - 1)) + 1)


def _check(request: JoinClusterRequest, cluster_id: str) -> None:
    if request.cluster_id is not None and request.cluster_id != cluster_id:
        raise ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"The directory belongs to cluster {request.cluster_id}, this is cluster {cluster_id}.",
        )
    if request.directory_id == _NO_DIRECTORY:
        raise ApiError(ErrorCode.INVALID_REGISTRATION, "A directory that wants to join must have an id.")


def _welcome(image: ClusterImage, node_id: NodeId, cluster_id: str, voters: Voters) -> JoinClusterResponse:
    return JoinClusterResponse(
        cluster_id=cluster_id,
        node_id=node_id,
        voters=tuple(
            JoinVoter(node_id=voter, directory_id=directory, endpoints=_endpoints(image, voter))
            for voter, directory in sorted(voters.items())
        ),
    )


def _endpoints(image: ClusterImage, node_id: NodeId) -> tuple[JoinEndpoint, ...]:
    broker = image.brokers.get(node_id)
    return tuple(
        JoinEndpoint(name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol)
        for each in (() if broker is None else broker.endpoints)
    )
