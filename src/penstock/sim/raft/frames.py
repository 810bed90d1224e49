"""A message's way through a frame and back: in some seeds every message takes it."""

from penstock.raft.messages import Answered, Message
from penstock.raft.wire_form import WireMessage, from_wire, to_wire
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.wire.messages.raft_append_entries import RaftAppendEntriesRequest, RaftAppendEntriesResponse
from penstock.wire.messages.raft_install_snapshot import (
    RaftInstallSnapshotRequest,
    RaftInstallSnapshotResponse,
)
from penstock.wire.messages.raft_observe import RaftObserveRequest, RaftObserveResponse
from penstock.wire.messages.raft_timeout_now import RaftTimeoutNowRequest
from penstock.wire.messages.raft_vote import RaftVoteRequest, RaftVoteResponse

CLUSTER_ID = "simulated"
_VERSION = 0
_KEYS: dict[type[WireMessage], ApiKey] = {
    RaftVoteRequest: ApiKey.RAFT_VOTE,
    RaftVoteResponse: ApiKey.RAFT_VOTE,
    RaftAppendEntriesRequest: ApiKey.RAFT_APPEND_ENTRIES,
    RaftAppendEntriesResponse: ApiKey.RAFT_APPEND_ENTRIES,
    RaftInstallSnapshotRequest: ApiKey.RAFT_INSTALL_SNAPSHOT,
    RaftInstallSnapshotResponse: ApiKey.RAFT_INSTALL_SNAPSHOT,
    RaftTimeoutNowRequest: ApiKey.RAFT_TIMEOUT_NOW,
    RaftObserveRequest: ApiKey.RAFT_OBSERVE,
    RaftObserveResponse: ApiKey.RAFT_OBSERVE,
}


def through_a_frame(message: Message) -> Message:
    """What arrives when ``message`` is sent."""
    struct = to_wire(message, CLUSTER_ID)
    key = _KEYS[type(struct)]
    if isinstance(message, Answered):
        frame = encode_response(key, _VERSION, 1, struct)
        _, received = decode_response(key, _VERSION, frame[4:])
    else:
        frame = encode_request(key, _VERSION, 1, struct, client_id="node")
        header = decode_request_header(frame[4:])
        received = decode_request(key, _VERSION, frame[4:], header.body_position)
    if not isinstance(received, type(struct)):
        raise TypeError(f"{type(struct).__name__} arrived as {type(received).__name__}")
    return from_wire(received, CLUSTER_ID)
