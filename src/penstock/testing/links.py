"""The network between brokers that share a process: which links are cut, and what that does to connections.

A cut link drops nothing and says nothing, as a network that has lost its packets does: what either side sent
waits, whoever connects waits, whoever hangs up is not heard. When the link heals, TCP would deliver what it
still has, and so do we. All traffic between two brokers is on connections that one of them has made, so
watching those is enough; clients are not concerned.
"""

import asyncio
from collections.abc import Collection, Iterable
from typing import Any

Cut = frozenset[int]
"""Two ports whose brokers do not hear of each other."""


class Network:
    """Which links between brokers are cut; shared by all of a cluster, changed by whoever tests it."""

    def __init__(self) -> None:
        self.cuts: frozenset[Cut] = frozenset()

    def cut(self, groups: Iterable[Collection[int]]) -> None:
        """Let ports of different groups not hear of each other, beside what is cut already."""
        sides = [list(group) for group in groups]
        self.cuts |= {
            frozenset((one, other))
            for number, side in enumerate(sides)
            for one in side
            for across in sides[number + 1 :]
            for other in across
        }

    def heal(self) -> None:
        """Let everybody hear of everybody."""
        self.cuts = frozenset()


class Links:
    """The links of one broker, as its loop sees them; ``changed`` must be called there after every change."""

    def __init__(self, network: Network, own_port: int) -> None:
        self._network = network
        self._own_port = own_port
        self._watched: dict[WatchedProtocol, int] = {}
        self._healed: list[asyncio.Future[None]] = []

    def is_cut(self, port: int) -> bool:
        """Whether whoever listens at a port cannot be reached."""
        return frozenset((self._own_port, port)) in self._network.cuts

    async def wait_open(self, port: int) -> None:
        """Return when the port can be reached; callers have a timeout, as for a peer that never answers."""
        while self.is_cut(port):
            healed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._healed.append(healed)
            await healed

    def watch(self, protocol: asyncio.BufferedProtocol, port: int) -> "WatchedProtocol":
        """Stand between a connection to that port and its socket."""
        return WatchedProtocol(self, protocol, port)

    def opened(self, watched: "WatchedProtocol", port: int) -> None:
        """A connection has begun."""
        self._watched[watched] = port

    def ended(self, watched: "WatchedProtocol") -> None:
        """A connection is gone."""
        self._watched.pop(watched, None)

    def changed(self) -> None:
        """Cut what is cut now, and let the rest go on."""
        for watched, port in list(self._watched.items()):
            if self.is_cut(port):
                watched.cut()
            else:
                watched.heal()
        waiting, self._healed = self._healed, []
        for healed in waiting:
            if not healed.done():
                healed.set_result(None)


class HeldTransport(asyncio.Transport):
    """What a broker holds of a connection to another one; while the link is cut, nothing gets through."""

    def __init__(self, watched: "WatchedProtocol", transport: asyncio.Transport) -> None:
        super().__init__()
        self._watched = watched
        self._transport = transport
        self._held: list[bytes] = []
        self._is_cut = False
        self._is_aborted = False

    def write(self, data: Any) -> None:
        """Send, or keep until the link heals; who asks waits for answers, so this is bounded."""
        if self._is_cut:
            self._held.append(bytes(data))
        else:
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether this side has hung up."""
        return self._is_aborted or self._transport.is_closing()

    def abort(self) -> None:
        """Hang up; across a cut link the other side learns of it when it heals."""
        if self._is_cut and not self.is_closing():
            self._is_aborted = True
            asyncio.get_running_loop().call_soon(self._watched.give_up)
        else:
            self._transport.abort()

    def cut(self) -> None:
        """Keep everything from now on."""
        if not self._is_cut and not self._transport.is_closing():
            self._is_cut = True
            self._transport.pause_reading()

    def heal(self) -> None:
        """Let through what was kept."""
        if not self._is_cut:
            return
        self._is_cut = False
        if self._is_aborted:
            self._transport.abort()
            return
        held, self._held = self._held, []
        for data in held:
            self._transport.write(data)
        if not self._transport.is_closing():
            self._transport.resume_reading()


class WatchedProtocol(asyncio.BufferedProtocol):
    """Hands everything on to the broker's own protocol, with a transport that can be cut."""

    def __init__(self, links: Links, protocol: asyncio.BufferedProtocol, port: int) -> None:
        self._links = links
        self._protocol = protocol
        self._port = port
        self._transport: HeldTransport | None = None
        self._has_given_up = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = HeldTransport(self, transport)
        self._links.opened(self, self._port)
        self._protocol.connection_made(self._transport)
        if self._links.is_cut(self._port):
            self.cut()

    def get_buffer(self, sizehint: int) -> Any:
        """Where received bytes go."""
        return bytearray(sizehint) if self._has_given_up else self._protocol.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have arrived."""
        if not self._has_given_up:
            self._protocol.buffer_updated(nbytes)

    def pause_writing(self) -> None:
        """The peer reads slowly."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over; whoever has given it up knows."""
        self._links.ended(self)
        if not self._has_given_up:
            self._protocol.connection_lost(exc)

    def give_up(self) -> None:
        """This side has hung up on a peer that cannot hear it."""
        if not self._has_given_up:
            self._has_given_up = True
            self._protocol.connection_lost(None)

    def cut(self) -> None:
        """The link is cut."""
        if self._transport is not None:
            self._transport.cut()

    def heal(self) -> None:
        """The link is whole again."""
        if self._transport is not None:
            self._transport.heal()
