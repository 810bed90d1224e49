"""DescribeCluster (key 60): the brokers, the controller and the cluster's id.

Flexible from the start. Version notes: 1 whose endpoints are wanted; 2 fenced brokers too.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

BROKER_ENDPOINTS = 1
CONTROLLER_ENDPOINTS = 2
OPERATIONS_NOT_ASKED = -2147483648
"""The bit field of authorized operations when the client did not ask for it."""


class DescribeClusterRequest(Struct):
    """Who is there?"""

    include_cluster_authorized_operations: bool = field(BOOLEAN)
    endpoint_type: int = field(INT8, "1+", default=BROKER_ENDPOINTS)
    include_fenced_brokers: bool = field(BOOLEAN, "2+")


class DescribeClusterBroker(Struct):
    """Where a broker can be reached."""

    broker_id: int = field(INT32)
    host: str = field(STRING)
    port: int = field(INT32)
    rack: str | None = nullable(STRING)
    is_fenced: bool = field(BOOLEAN, "2+")


class DescribeClusterResponse(Struct):
    """The cluster."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    endpoint_type: int = field(INT8, "1+", default=BROKER_ENDPOINTS)
    cluster_id: str = field(STRING)
    controller_id: int = field(INT32, default=-1)
    brokers: tuple[DescribeClusterBroker, ...] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = field(INT32, default=OPERATIONS_NOT_ASKED)
