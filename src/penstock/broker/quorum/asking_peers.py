"""The seam to other nodes."""

from typing import Any, Protocol

from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.model.ids import NodeId
from penstock.wire.schema import Struct


class AskingPeers(Protocol):
    """Whoever carries questions to other nodes; ``broker.peers`` does."""

    async def ask(
        self, node_id: NodeId, request: Struct, version: int, *, seconds_max: float, lane: Lane
    ) -> Any:
        """The answer of a node, or ``PeerError``."""

    async def ask_at(
        self, address: Address, request: Struct, version: int, *, seconds_max: float, lane: Lane
    ) -> Any:
        """The answer of whoever listens there, or ``PeerError``."""
