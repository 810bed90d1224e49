"""Messages as frames carry them, and back.

A question becomes a request, an answer a response; ``TimeoutNow`` is a question without an answer. Every one
names its cluster, and one from another cluster is refused before the machine sees it.
"""

from typing import Any, TypeAlias, assert_never

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, DecodeError
from penstock.model.ids import NodeId
from penstock.raft.batches import entries_of
from penstock.raft.entry import SnapshotId
from penstock.raft.messages import (
    AppendEntries,
    AppendResponse,
    InstallSnapshot,
    Message,
    ObserveRequest,
    ObserveResponse,
    SnapshotResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.replica import NOBODY, Endpoint, ReplicaKey, Voter
from penstock.raft.voters import VoterSet, voter_set
from penstock.wire.messages import raft_replica
from penstock.wire.messages.raft_append_entries import RaftAppendEntriesRequest, RaftAppendEntriesResponse
from penstock.wire.messages.raft_install_snapshot import (
    RaftInstallSnapshotRequest,
    RaftInstallSnapshotResponse,
)
from penstock.wire.messages.raft_observe import RaftObserveRequest, RaftObserveResponse
from penstock.wire.messages.raft_timeout_now import RaftTimeoutNowRequest
from penstock.wire.messages.raft_vote import RaftVoteRequest, RaftVoteResponse

WireMessage: TypeAlias = (
    RaftVoteRequest
    | RaftVoteResponse
    | RaftAppendEntriesRequest
    | RaftAppendEntriesResponse
    | RaftInstallSnapshotRequest
    | RaftInstallSnapshotResponse
    | RaftTimeoutNowRequest
    | RaftObserveRequest
    | RaftObserveResponse
)


def to_wire(message: Message, cluster_id: str) -> WireMessage:
    """A message of the machine's as a struct to be sent."""
    envelope: dict[str, Any] = {
        "cluster_id": cluster_id,
        "sender": _key_to_wire(message.sender),
        "target": _key_to_wire(message.target),
        "term": message.term,
    }
    match message:
        case TimeoutNow():
            return RaftTimeoutNowRequest(**envelope)
        case ObserveRequest():
            return RaftObserveRequest(**envelope, end_offset=message.end_offset)
        case ObserveResponse():
            return RaftObserveResponse(**envelope, leader=_key_to_wire(message.leader or NOBODY))
        case _:
            return _numbered_to_wire(message, envelope | {"sequence": message.sequence})


def from_wire(struct: WireMessage, cluster_id: str) -> Message:
    """A struct that was received as a message for the machine; raises ``ApiError`` if it is none."""
    if struct.cluster_id != cluster_id:
        raise ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"A message of cluster {struct.cluster_id!r} reached cluster {cluster_id!r}.",
        )
    _check_numbers(struct)
    envelope: dict[str, Any] = {
        "sender": _key_from_wire(struct.sender),
        "target": _key_from_wire(struct.target),
        "term": struct.term,
    }
    match struct:
        case RaftTimeoutNowRequest():
            return TimeoutNow(**envelope)
        case RaftObserveRequest():
            return ObserveRequest(**envelope, end_offset=struct.end_offset)
        case RaftObserveResponse():
            leader = _key_from_wire(struct.leader)
            return ObserveResponse(**envelope, leader=None if leader == NOBODY else leader)
        case _:
            return _numbered_from_wire(struct, envelope | {"sequence": struct.sequence})


def _check_numbers(struct: WireMessage) -> None:
    """Terms, offsets and positions begin at 0; only nobody's node id is less."""
    for name in type(struct).fields:
        value = getattr(struct, name)
        if isinstance(value, int) and value < 0:
            raise DecodeError(f"{type(struct).__name__} has {value} as {name}.")


def _numbered_to_wire(
    message: VoteRequest | VoteResponse | AppendEntries | AppendResponse | InstallSnapshot | SnapshotResponse,
    envelope: dict[str, Any],
) -> WireMessage:
    match message:
        case VoteRequest():
            return RaftVoteRequest(
                **envelope,
                last_term=message.last_term,
                end_offset=message.end_offset,
                is_pre_vote=message.is_pre_vote,
                is_handover=message.is_handover,
            )
        case VoteResponse():
            return RaftVoteResponse(
                **envelope, is_granted=message.is_granted, is_pre_vote=message.is_pre_vote
            )
        case AppendEntries():
            return RaftAppendEntriesRequest(
                **envelope,
                offset=message.offset,
                previous_term=message.previous_term,
                commit_offset=message.commit_offset,
                records=b"".join(entry.payload for entry in message.entries),
            )
        case AppendResponse():
            return RaftAppendEntriesResponse(
                **envelope,
                is_accepted=message.is_accepted,
                offset=message.offset,
                hint_term=message.hint_term,
            )
        case InstallSnapshot():
            return _piece_to_wire(message, envelope)
        case SnapshotResponse():
            return RaftInstallSnapshotResponse(
                **envelope,
                snapshot_end_offset=message.snapshot_id.end_offset,
                snapshot_term=message.snapshot_id.term,
                position=message.position,
                is_installed=message.is_installed,
            )
        case _:
            assert_never(message)


def _numbered_from_wire(
    struct: RaftVoteRequest
    | RaftVoteResponse
    | RaftAppendEntriesRequest
    | RaftAppendEntriesResponse
    | RaftInstallSnapshotRequest
    | RaftInstallSnapshotResponse,
    envelope: dict[str, Any],
) -> Message:
    match struct:
        case RaftVoteRequest():
            return VoteRequest(
                **envelope,
                last_term=struct.last_term,
                end_offset=struct.end_offset,
                is_pre_vote=struct.is_pre_vote,
                is_handover=struct.is_handover,
            )
        case RaftVoteResponse():
            return VoteResponse(**envelope, is_granted=struct.is_granted, is_pre_vote=struct.is_pre_vote)
        case RaftAppendEntriesRequest():
            return _append_from_wire(struct, envelope)
        case RaftAppendEntriesResponse():
            return AppendResponse(
                **envelope, is_accepted=struct.is_accepted, offset=struct.offset, hint_term=struct.hint_term
            )
        case RaftInstallSnapshotRequest():
            return _piece_from_wire(struct, envelope)
        case RaftInstallSnapshotResponse():
            return SnapshotResponse(
                **envelope,
                snapshot_id=SnapshotId(struct.snapshot_end_offset, struct.snapshot_term),
                position=struct.position,
                is_installed=struct.is_installed,
            )
        case _:
            assert_never(struct)


def _append_from_wire(struct: RaftAppendEntriesRequest, envelope: dict[str, Any]) -> AppendEntries:
    """Entries must follow each other from where they say, in terms that ascend to the leader's."""
    records = struct.records
    if not isinstance(records, bytes | bytearray | memoryview):
        raise DecodeError("Entries must be in the message.")
    entries = entries_of(records)
    offset, term = struct.offset, struct.previous_term
    for entry in entries:
        if entry.offset != offset or not term <= entry.term <= struct.term:
            raise DecodeError(
                f"An entry of term {entry.term} at {entry.offset} cannot follow term {term} at {offset}."
            )
        offset, term = entry.end_offset, entry.term
    return AppendEntries(
        **envelope,
        offset=struct.offset,
        previous_term=struct.previous_term,
        commit_offset=struct.commit_offset,
        entries=entries,
    )


def _piece_to_wire(message: InstallSnapshot, envelope: dict[str, Any]) -> RaftInstallSnapshotRequest:
    return RaftInstallSnapshotRequest(
        **envelope,
        snapshot_end_offset=message.snapshot_id.end_offset,
        snapshot_term=message.snapshot_id.term,
        voters=tuple(_voter_to_wire(voter) for voter in message.voters.voters),
        position=message.position,
        size_bytes=message.size_bytes,
        data=message.data,
    )


def _piece_from_wire(struct: RaftInstallSnapshotRequest, envelope: dict[str, Any]) -> InstallSnapshot:
    return InstallSnapshot(
        **envelope,
        snapshot_id=SnapshotId(struct.snapshot_end_offset, struct.snapshot_term),
        voters=_voters_from_wire(struct.voters),
        position=struct.position,
        size_bytes=struct.size_bytes,
        data=bytes(struct.data),
    )


def _key_to_wire(key: ReplicaKey) -> raft_replica.ReplicaKey:
    return raft_replica.ReplicaKey(node_id=key.node_id, directory_id=key.directory_id)


def _key_from_wire(key: raft_replica.ReplicaKey) -> ReplicaKey:
    return ReplicaKey(NodeId(key.node_id), key.directory_id)


def _voter_to_wire(voter: Voter) -> raft_replica.Voter:
    return raft_replica.Voter(
        node_id=voter.key.node_id,
        directory_id=voter.key.directory_id,
        endpoints=tuple(
            raft_replica.VoterEndpoint(name=each.name, host=each.host, port=each.port)
            for each in voter.endpoints
        ),
    )


def _voters_from_wire(voters: tuple[raft_replica.Voter, ...]) -> VoterSet:
    if len({voter.node_id for voter in voters}) != len(voters):
        raise DecodeError("A node is named twice among the voters.")
    return voter_set(
        Voter(
            key=ReplicaKey(NodeId(voter.node_id), voter.directory_id),
            endpoints=tuple(
                Endpoint(name=each.name, host=each.host, port=each.port) for each in voter.endpoints
            ),
        )
        for voter in voters
    )
