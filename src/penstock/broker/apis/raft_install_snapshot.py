"""RaftInstallSnapshot (key 10002, private): a piece of a snapshot.

Version 0.

Behaviour
    - The answer to the last piece comes when the snapshot is in force.
    - INCONSISTENT_CLUSTER_ID for a node of another cluster; INVALID_REQUEST for what cannot be read;
      REQUEST_TIMED_OUT when there is nothing to say, which the sender takes as if nothing had come.
"""

from typing import TYPE_CHECKING

from penstock.model.ids import NodeId
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.raft_install_snapshot import RaftInstallSnapshotRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: RaftInstallSnapshotRequest, header: RequestHeader) -> Struct:
    """Let the quorum answer."""
    response = await broker.quorum.answer(request)
    broker.quorum.note_connection(NodeId(request.sender.node_id), header.when_connection_is_lost)
    return response
