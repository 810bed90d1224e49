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
    ANY_NODE_ID,
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
        node_id = _id_for(image, request, voters) if known is None else _same_id(known, request)
    except ApiError as error:
        response = JoinClusterResponse(error_code=error.code, error_message=message_of(error))
        return Result(records=(), response=response)
    records = (_newcomer(request, node_id, epoch=next_offset),) if known is None else ()
    return Result(records=records, response=_welcome(image, node_id, cluster_id, voters))


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


def _id_for(image: ClusterImage, request: JoinClusterRequest, voters: Voters) -> NodeId:
    """The id that a new directory was told to have, if nobody else has it; the next free one otherwise."""
    free = next_node_id(image, voters)
    if request.node_id == ANY_NODE_ID:
        return free
    wanted = NodeId(request.node_id)
    if wanted in image.brokers or wanted in voters:
        raise ApiError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            f"Node {wanted} of this cluster has another data directory. Leave node.id away to get the next "
            f"free id, {free}; or have the cluster forget node {wanted} first, if it is gone for good.",
        )
    return wanted


def _same_id(known: NodeId, request: JoinClusterRequest) -> NodeId:
    if request.node_id not in (ANY_NODE_ID, known):
        raise ApiError(
            ErrorCode.INVALID_REGISTRATION,
            f"The directory belongs to node {known}, but this is node {request.node_id}.",
        )
    return known


def _newcomer(request: JoinClusterRequest, node_id: NodeId, *, epoch: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=node_id,
        broker_epoch=epoch,
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
