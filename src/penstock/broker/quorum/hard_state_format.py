"""What a node must not forget, as the bytes of its ``quorum-state``."""

from penstock.model.errors import CorruptLogError, DecodeError
from penstock.model.ids import NodeId
from penstock.raft.hard_state import HardState
from penstock.raft.replica import NOBODY, ReplicaKey
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.primitives import BOOLEAN, INT32, INT64, UUID
from penstock.wire.schema import Struct, field

VERSION = 0


class QuorumState(Struct):
    """Term, vote, and the mark of a log that lost entries."""

    term: int = field(INT32)
    has_voted: bool = field(BOOLEAN)
    voted_id: int = field(INT32, default=-1)
    voted_directory_id: bytes = field(UUID)
    quarantined_below: int = field(INT64)


def encode_hard_state(state: HardState) -> bytes:
    """The bytes to write."""
    voted = state.voted_for or NOBODY
    written = QuorumState(
        term=state.term,
        has_voted=state.voted_for is not None,
        voted_id=voted.node_id,
        voted_directory_id=voted.directory_id,
        quarantined_below=state.quarantined_below,
    )
    return encode_struct(written, version=VERSION, flexible=True)


def decode_hard_state(data: bytes) -> HardState:
    """What was written; it was checksummed, so anything else is of another version."""
    try:
        read: QuorumState = decode_struct(QuorumState, data, version=VERSION, flexible=True)
    except DecodeError as error:
        raise CorruptLogError(f"the quorum's state cannot be read: {error}") from error
    voted = ReplicaKey(NodeId(read.voted_id), read.voted_directory_id)
    return HardState(
        term=read.term,
        voted_for=voted if read.has_voted else None,
        quarantined_below=read.quarantined_below,
    )
