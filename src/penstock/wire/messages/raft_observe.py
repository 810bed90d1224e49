"""RaftObserve (key 10004, private): a node without a vote asks a leader to be fed."""

from penstock.wire.messages.raft_replica import ReplicaKey
from penstock.wire.primitives import INT16, INT32, INT64, STRING, UINT16
from penstock.wire.schema import Struct, field, struct


class RaftObserveRequest(Struct):
    """Feed me; or tell me who can."""

    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    end_offset: int = field(INT64)
    #: Where the sender listens, which nobody may know yet; an empty host says nothing.
    host: str = field(STRING)
    port: int = field(UINT16)


class RaftObserveResponse(Struct):
    """Who leads, as far as the one asked knows; node -1 when it knows nobody, or leads itself."""

    error_code: int = field(INT16)
    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    leader: ReplicaKey = struct(ReplicaKey)
    #: Where the leader listens; an empty host says nothing.
    leader_host: str = field(STRING)
    leader_port: int = field(UINT16)
