"""RaftTimeoutNow (key 10003, private): the leader hands over.

Version 0.

Behaviour
    - The answer only says that it has arrived.
    - INCONSISTENT_CLUSTER_ID for a node of another cluster; INVALID_REQUEST for what cannot be read;
      REQUEST_TIMED_OUT when there is nothing to say, which the sender takes as if nothing had come.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.raft_timeout_now import RaftTimeoutNowRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: RaftTimeoutNowRequest, header: RequestHeader) -> Struct:
    """Let the quorum answer."""
    return await broker.quorum.answer(request)
