"""RaftInstallSnapshot (key 10002, private): a piece of a snapshot, for who is behind the leader's log."""

from penstock.wire.messages.raft_replica import ReplicaKey, Voter
from penstock.wire.primitives import BOOLEAN, BYTES, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, struct


class RaftInstallSnapshotRequest(Struct):
    """Take this piece."""

    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    sequence: int = field(INT64)
    #: The snapshot: the first offset that is not in it, and the term of the last one that is.
    snapshot_end_offset: int = field(INT64)
    snapshot_term: int = field(INT32)
    #: In force at the end of the snapshot.
    voters: tuple[Voter, ...] = array(Voter)
    position: int = field(INT64)
    size_bytes: int = field(INT64)
    data: bytes = field(BYTES)


class RaftInstallSnapshotResponse(Struct):
    """Which piece comes next; none when the snapshot is installed."""

    error_code: int = field(INT16)
    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    sequence: int = field(INT64)
    snapshot_end_offset: int = field(INT64)
    snapshot_term: int = field(INT32)
    position: int = field(INT64)
    is_installed: bool = field(BOOLEAN)
