"""Joins a cluster: a new directory asks who it is to be, before it is anybody.

The directory's own id is made first and kept, so that a broker which dies while it joins is known when it
comes back, and does not leave a member behind that nobody is. Any broker of the cluster can be asked; the
controller decides. As long as nobody answers it goes on asking: the cluster may be starting, too.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.broker.peers.address import Address
from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError
from penstock.wire.messages.join_cluster import JoinClusterRequest, JoinClusterResponse

if TYPE_CHECKING:
    from penstock.broker.peers.peers import Peers

logger = logging.getLogger(__name__)

JOIN_VERSION = 0
ASK_SECONDS_MAX = 20.0
RETRY_SECONDS = 0.5

WORTH_ASKING_AGAIN = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


async def join(
    peers: "Peers", servers: Sequence[Address], request: JoinClusterRequest
) -> JoinClusterResponse:
    """Ask one after the other until the cluster takes us in; raises when it refuses."""
    while True:
        for server in servers:
            response = await _ask(peers, server, request)
            if response is not None:
                return response
        await asyncio.sleep(RETRY_SECONDS)


async def _ask(peers: "Peers", server: Address, request: JoinClusterRequest) -> JoinClusterResponse | None:
    """The cluster's answer; None when there is none to be had from this server now."""
    try:
        response: JoinClusterResponse = await peers.ask_at(
            server, request, JOIN_VERSION, seconds_max=ASK_SECONDS_MAX
        )
    except PeerError as error:
        logger.warning("cannot join yet", extra={"server": str(server), "reason": str(error)})
        return None
    code = ErrorCode(response.error_code)
    if code in WORTH_ASKING_AGAIN:
        logger.warning("cannot join yet", extra={"server": str(server), "reason": response.error_message})
        return None
    if code is not ErrorCode.NONE:
        raise OperatingError(f"The cluster at {server} refuses this broker: {response.error_message}")
    return response
