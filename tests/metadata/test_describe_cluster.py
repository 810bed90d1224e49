import pytest

from penstock.metadata.describe_cluster import describe_cluster
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.wire.messages.describe_cluster import (
    OPERATIONS_NOT_ASKED,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

ONE = DescribeClusterBroker(broker_id=1, host="host1", port=9001, rack="a")
TWO = DescribeClusterBroker(broker_id=2, host="host2", port=9002, rack="b")
THREE = DescribeClusterBroker(broker_id=3, host="host3", port=9003, rack=None, is_fenced=True)


def describe(
    image: ClusterImage, request: DescribeClusterRequest, controller: int = 1
) -> DescribeClusterResponse:
    return describe_cluster(
        image, request, cluster_id="cluster", controller_id=NodeId(controller), listener="PLAINTEXT"
    )


def test_live_brokers_are_described(image: ClusterImage) -> None:
    assert describe(image, DescribeClusterRequest()) == DescribeClusterResponse(
        cluster_id="cluster",
        controller_id=1,
        brokers=(ONE, TWO),
        cluster_authorized_operations=OPERATIONS_NOT_ASKED,
    )


def test_fenced_brokers_come_when_asked_for(image: ClusterImage) -> None:
    response = describe(image, DescribeClusterRequest(include_fenced_brokers=True))
    assert response.brokers == (ONE, TWO, THREE)


def test_controller_that_cannot_be_reached_is_not_named(image: ClusterImage) -> None:
    assert describe(image, DescribeClusterRequest(), controller=3).controller_id == -1


def test_operations_are_told_when_asked(image: ClusterImage) -> None:
    response = describe(image, DescribeClusterRequest(include_cluster_authorized_operations=True))
    assert response.cluster_authorized_operations == 8096


@pytest.mark.parametrize(
    ("endpoints", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_other_endpoints_are_refused(image: ClusterImage, endpoints: int, code: ErrorCode) -> None:
    response = describe(image, DescribeClusterRequest(endpoint_type=endpoints))
    assert (response.error_code, response.brokers) == (code, ())
    assert response.error_message
