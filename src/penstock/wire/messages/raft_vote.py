"""RaftVote (key 10000, private): a candidate asks for a vote, or, beforehand, whether it would get one."""

from penstock.wire.messages.raft_replica import ReplicaKey
from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING, UINT16
from penstock.wire.schema import Struct, field, struct


class RaftVoteRequest(Struct):
    """Will you vote for me?"""

    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    #: Of a pre-vote, the one before the term it would stand in.
    term: int = field(INT32)
    sequence: int = field(INT64)
    #: Of the candidate's last entry, and where its log ends.
    last_term: int = field(INT32)
    end_offset: int = field(INT64)
    is_pre_vote: bool = field(BOOLEAN)
    #: The leader asked for this election.
    is_handover: bool = field(BOOLEAN)
    #: Where the sender listens, which nobody may know yet; an empty host says nothing.
    host: str = field(STRING)
    port: int = field(UINT16)


class RaftVoteResponse(Struct):
    """Yes or no."""

    error_code: int = field(INT16)
    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    sequence: int = field(INT64)
    is_granted: bool = field(BOOLEAN)
    is_pre_vote: bool = field(BOOLEAN)
