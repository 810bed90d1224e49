"""RaftTimeoutNow (key 10003, private): a leader hands over; its successor is to stand at once."""

from penstock.wire.messages.raft_replica import ReplicaKey
from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, field, struct


class RaftTimeoutNowRequest(Struct):
    """Stand for election."""

    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)


class RaftTimeoutNowResponse(Struct):
    """It has arrived; the vote requests are the answer."""

    error_code: int = field(INT16)
