"""DescribeCluster, and the list of brokers that Metadata carries too."""

from penstock.metadata.image import ClusterImage
from penstock.metadata.operations import CLUSTER_OPERATIONS, OPERATIONS_NOT_ASKED
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.wire.messages.describe_cluster import (
    BROKER_ENDPOINTS,
    CONTROLLER_ENDPOINTS,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)


def describe_cluster(
    image: ClusterImage,
    request: DescribeClusterRequest,
    *,
    cluster_id: str,
    controller_id: NodeId,
    listener: str,
) -> DescribeClusterResponse:
    """Who is there, as seen through one listener."""
    if request.endpoint_type != BROKER_ENDPOINTS:
        return _wrong_endpoints(request.endpoint_type)
    brokers = tuple(_brokers(image, listener, with_fenced=request.include_fenced_brokers))
    asked = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        cluster_id=cluster_id,
        controller_id=controller_id if any(each.broker_id == controller_id for each in brokers) else -1,
        brokers=brokers,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else OPERATIONS_NOT_ASKED,
    )


def _brokers(image: ClusterImage, listener: str, *, with_fenced: bool) -> list[DescribeClusterBroker]:
    brokers = (image.brokers[node_id] for node_id in sorted(image.brokers))
    return [
        DescribeClusterBroker(
            broker_id=broker.node_id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            is_fenced=broker.is_fenced,
        )
        for broker in brokers
        if (endpoint := broker.endpoint(listener)) is not None and (with_fenced or not broker.is_fenced)
    ]


def _wrong_endpoints(asked: int) -> DescribeClusterResponse:
    if asked == CONTROLLER_ENDPOINTS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, but we wanted an endpoint of "
            "type CONTROLLER",
        )
    return DescribeClusterResponse(
        error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, error_message=f"Unsupported endpoint type {asked}"
    )
