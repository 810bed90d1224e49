"""JoinCluster (key 10100, Penstock's own): a new broker asks any live one who it is to be.

Nothing of Kafka's does this: its brokers are told their ids and their cluster by whoever sets them up. A
directory that asks again gets the same answer again.
"""

from penstock.wire.primitives import INT16, INT32, STRING, UINT16, UUID
from penstock.wire.schema import Struct, array, field, nullable

ANY_NODE_ID = -1


class JoinEndpoint(Struct):
    """An address a node listens on."""

    name: str = field(STRING)
    host: str = field(STRING)
    port: int = field(UINT16)
    security_protocol: int = field(INT16)


class JoinClusterRequest(Struct):
    """May I join? With the cluster's id if the directory has belonged to it before."""

    cluster_id: str | None = nullable(STRING)
    directory_id: bytes = field(UUID)
    endpoints: tuple[JoinEndpoint, ...] = array(JoinEndpoint)
    rack: str | None = nullable(STRING)
    #: The id it was told to have, if somebody told it.
    node_id: int = field(INT32, default=ANY_NODE_ID)


class JoinVoter(Struct):
    """A node that decides on metadata."""

    node_id: int = field(INT32)
    directory_id: bytes = field(UUID)
    endpoints: tuple[JoinEndpoint, ...] = array(JoinEndpoint)


class JoinClusterResponse(Struct):
    """Who the asking broker is from now on, and whose metadata it is to follow."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    cluster_id: str = field(STRING)
    node_id: int = field(INT32, default=ANY_NODE_ID)
    voters: tuple[JoinVoter, ...] = array(JoinVoter)
