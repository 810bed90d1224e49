"""The other brokers, as far as one can ask them something.

A question goes to an address, in a lane. Where a node is, is looked up for every question: when it has moved,
the connections to where it was are closed, unless another node has taken its place.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from penstock.broker.clock import Clock
from penstock.broker.frames import SCRATCH_BYTES
from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.line import Line, PeerSurroundings
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.tasks import Tasks
from penstock.model.ids import NodeId
from penstock.model.limits import PEER_ANSWER_BYTES_MAX
from penstock.wire.schema import Struct

CLIENT_ID = "penstock-broker"
"""What brokers call themselves to each other; clients that are none have no reason to."""


class Peers:
    """Asks, once, and says whether the question left."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        clock: Clock,
        client_id: str,
        address_of: Callable[[NodeId], Address | None],
        frame_bytes_max: int = PEER_ANSWER_BYTES_MAX,
    ) -> None:
        self._address_of = address_of
        self._around = PeerSurroundings(
            loop=loop,
            clock=clock,
            tasks=Tasks(loop),
            client_id=client_id,
            scratch=bytearray(SCRATCH_BYTES),
            frame_bytes_max=frame_bytes_max,
        )
        self._lines: dict[Address, dict[Lane, Line]] = {}
        self._last_seen: dict[NodeId, Address] = {}
        self._is_closed = False

    async def ask(
        self,
        node_id: NodeId,
        request: Struct,
        version: int,
        *,
        seconds_max: float,
        lane: Lane = Lane.CONTROL,
    ) -> Any:
        """The answer of a node, or ``PeerError`` when there is none within the time."""
        address = self._locate(node_id)
        return await self.ask_at(address, request, version, seconds_max=seconds_max, lane=lane)

    async def ask_at(
        self,
        address: Address,
        request: Struct,
        version: int,
        *,
        seconds_max: float,
        lane: Lane = Lane.CONTROL,
    ) -> Any:
        """The answer of whoever listens at an address, or ``PeerError``."""
        line = self._line(address, lane)
        return await line.ask(request, version, seconds_max=seconds_max)

    def close(self) -> None:
        """Hang up everywhere; whoever waits gets ``PeerError``, and so does whoever asks from now on."""
        self._is_closed = True
        for address in list(self._lines):
            self._hang_up(address, "was hung up on, since this broker is stopping")

    def _locate(self, node_id: NodeId) -> Address:
        address = self._address_of(node_id)
        before = self._last_seen.get(node_id)
        if before is not None and before != address:
            del self._last_seen[node_id]
            if before not in self._last_seen.values():  # a successor may listen there
                self._hang_up(before, f"is no longer the address of node {node_id}")
        if address is None:
            raise PeerError(f"node {node_id} has no address", was_sent=False)
        self._last_seen[node_id] = address
        return address

    def _line(self, address: Address, lane: Lane) -> Line:
        if self._is_closed:
            raise PeerError(f"{address} is not asked: this broker is stopping", was_sent=False)
        lines = self._lines.setdefault(address, {})
        line = lines.get(lane)
        if line is None:
            line = lines[lane] = Line(address, lane, self._around)
        return line

    def _hang_up(self, address: Address, reason: str) -> None:
        for line in self._lines.pop(address, {}).values():
            line.close(reason)
