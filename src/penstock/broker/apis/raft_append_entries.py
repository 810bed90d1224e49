"""RaftAppendEntries (key 10001, private): a leader's record batches.

Version 0.

Behaviour
    - The answer comes when they are on disk.
    - INCONSISTENT_CLUSTER_ID for a node of another cluster; INVALID_REQUEST for what cannot be read;
      REQUEST_TIMED_OUT when there is nothing to say, which the sender takes as if nothing had come.
"""

from typing import TYPE_CHECKING

from penstock.model.ids import NodeId
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.raft_append_entries import RaftAppendEntriesRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: RaftAppendEntriesRequest, header: RequestHeader) -> Struct:
    """Let the quorum answer."""
    response = await broker.quorum.answer(request)
    broker.quorum.note_connection(NodeId(request.sender.node_id), header.when_connection_is_lost)
    return response
