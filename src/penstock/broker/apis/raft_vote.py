"""RaftVote (key 10000, private): a candidate asks for a vote, or, beforehand, whether it would get one.

Version 0.

Behaviour
    - The answer comes when the vote is on disk.
    - INCONSISTENT_CLUSTER_ID for a node of another cluster; INVALID_REQUEST for what cannot be read;
      REQUEST_TIMED_OUT when there is nothing to say, which the sender takes as if nothing had come.
"""

from typing import TYPE_CHECKING

from penstock.wire.framing import RequestHeader
from penstock.wire.messages.raft_vote import RaftVoteRequest
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(broker: "Broker", request: RaftVoteRequest, header: RequestHeader) -> Struct:
    """Let the quorum answer."""
    return await broker.quorum.answer(request)
