"""RaftObserve (key 10004, private): a node without a vote asks to be fed.

Version 0.

Behaviour
    - A leader answers nothing, and begins to feed; any other node names the leader.
    - INCONSISTENT_CLUSTER_ID for a node of another cluster; INVALID_REQUEST for what cannot be read;
      REQUEST_TIMED_OUT when there is nothing to say, which the sender takes as if nothing had come.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.raft_observe import RaftObserveRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: RaftObserveRequest, header: RequestHeader) -> Struct:
    """Let the quorum answer."""
    return await broker.quorum.answer(request)
