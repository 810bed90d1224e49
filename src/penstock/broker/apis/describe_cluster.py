"""DescribeCluster (key 60): the cluster's id, its brokers, and whom to send changes to.

Versions 0 to 2.

Behaviour
    - The controller is -1 while there is none, or none that clients can reach.
    - Brokers are those that are alive; fenced ones too when asked for.
    - Asked for controllers, a broker answers MISMATCHED_ENDPOINT_TYPE; for anything else,
      UNSUPPORTED_ENDPOINT_TYPE.
    - Authorized operations, when asked for, are all of them: there is no authorizer.

Version notes
    1 endpoint type (KIP-919); 2 fenced brokers (KIP-1073).
"""

from typing import TYPE_CHECKING

from penstock.config.listeners import PLAINTEXT
from penstock.metadata.describe_cluster import describe_cluster
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeClusterRequest, header: RequestHeader
) -> DescribeClusterResponse:
    """Describe the cluster as this broker knows it."""
    return describe_cluster(
        broker.image,
        request,
        cluster_id=broker.cluster_id,
        controller_id=broker.controller_id,
        listener=PLAINTEXT,
    )
