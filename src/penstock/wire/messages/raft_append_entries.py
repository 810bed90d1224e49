"""RaftAppendEntries (key 10001, private): a leader's record batches, to go into the log as they are."""

from penstock.wire.messages.raft_replica import ReplicaKey
from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, RECORDS, STRING, RecordsPayload
from penstock.wire.schema import Struct, field, struct


class RaftAppendEntriesRequest(Struct):
    """Append this; without records, only: I lead."""

    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    sequence: int = field(INT64)
    offset: int = field(INT64)
    #: Of the entry before ``offset``.
    previous_term: int = field(INT32)
    #: How far the leader's log is committed.
    commit_offset: int = field(INT64)
    #: Batches back to back, stamped with offset and term.
    records: RecordsPayload = field(RECORDS)


class RaftAppendEntriesResponse(Struct):
    """On disk up to ``offset``; or refused, with a place to try instead."""

    error_code: int = field(INT16)
    cluster_id: str = field(STRING)
    sender: ReplicaKey = struct(ReplicaKey)
    target: ReplicaKey = struct(ReplicaKey)
    term: int = field(INT32)
    sequence: int = field(INT64)
    is_accepted: bool = field(BOOLEAN)
    offset: int = field(INT64)
    #: Refused: of the entry before ``offset``.
    hint_term: int = field(INT32)
