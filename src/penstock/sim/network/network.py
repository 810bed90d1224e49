"""Hosts and the links between them: who can reach whom, who listens where, and which connections live."""

import asyncio
import errno
from collections.abc import Callable, Iterable
from typing import cast

from penstock.sim.network.link import Link, NetworkHabits
from penstock.sim.network.pipe import Pipe
from penstock.sim.network.server import SimulatedServer
from penstock.sim.network.transport import SimulatedTransport
from penstock.sim.runtime.loop import SimulatedLoop
from penstock.sim.runtime.world import World

CONNECT_RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""When a kernel asks again for a connection that nobody answered."""

EPHEMERAL_PORT_MIN = 32_768


class Network:
    """Everything between the processes of one world."""

    def __init__(self, world: World, environment: SimulatedLoop, habits: NetworkHabits) -> None:
        self.world = world
        #: The process-independent part of the world, in which wires do their work.
        self.environment = environment
        self.habits = habits
        self._draw = world.stream("network")
        self._links: dict[tuple[str, str], Link] = {}
        self._servers: dict[tuple[str, int], SimulatedServer] = {}
        self._hosts_down: dict[str, None] = {}
        self._ends: dict[SimulatedTransport, None] = {}
        self._ports = EPHEMERAL_PORT_MIN

    # What loops ask.

    def listen(
        self, loop: SimulatedLoop, factory: Callable[[], asyncio.BaseProtocol], port: int, *, is_serving: bool
    ) -> SimulatedServer:
        """Take a port of the loop's host."""
        chosen = port or self._new_port()
        known = self._servers.get((loop.name, chosen))
        if known is not None and not known.loop.is_dead:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        server = SimulatedServer(self, loop, chosen, factory, is_serving=is_serving)
        self._servers[loop.name, chosen] = server
        return server

    def forget_server(self, server: SimulatedServer) -> None:
        """Its port is free."""
        if self._servers.get((server.loop.name, server.port)) is server:
            del self._servers[server.loop.name, server.port]

    async def connect(
        self, loop: SimulatedLoop, factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect as a kernel does: ask again when nobody answers, give up after a while."""
        answered = cast(
            "asyncio.Future[tuple[SimulatedTransport, asyncio.BaseProtocol]]", loop.create_future()
        )

        def call(retries: Iterable[float]) -> None:
            if answered.done() or loop.is_dead:
                return
            waits = list(retries)
            if self.is_reachable(loop.name, host) and self.is_reachable(host, loop.name):
                there = self.delay(loop.name, host)
                self.world.at(there, self.environment, knock)
            elif waits:
                self.world.at(waits[0], self.environment, call, waits[1:])
            else:
                error = TimeoutError(errno.ETIMEDOUT, f"{host}:{port} does not answer")
                self.world.at(0.0, loop, _fail, answered, error)

        def knock() -> None:
            server = self._servers.get((host, port))
            back = self.delay(host, loop.name)
            if server is None or not server.is_serving():
                error = ConnectionRefusedError(errno.ECONNREFUSED, f"{host}:{port} refuses connections")
                self.world.at(back, loop, _fail, answered, error)
            else:
                self.world.at(back, loop, join, server)

        def join(server: SimulatedServer) -> None:
            if not answered.done():
                answered.set_result(self._join(loop, factory, server))

        call(CONNECT_RETRY_SECONDS)
        return await answered

    # What the world asks.

    def is_reachable(self, source: str, target: str) -> bool:
        """Whether bytes get from one host to the other now."""
        return self.link(source, target).is_open and target not in self._hosts_down

    def delay(self, source: str, target: str) -> float:
        """How long the next segment takes."""
        return self.link(source, target).delay(self.habits, self._draw)

    def draw_arrival(self, count: int) -> int:
        """How many of ``count`` bytes can be read at once."""
        if count > 1 and self._draw.random() < self.habits.cuts:
            return self._draw.randint(1, count - 1)
        return count

    def link(self, source: str, target: str) -> Link:
        """The way from one host to another."""
        found = self._links.get((source, target))
        if found is None:
            found = self._links[source, target] = Link()
        return found

    # What faults do.

    def block(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Cut these directions."""
        for pair in pairs:
            self.link(*pair).block()

    def unblock(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Mend these directions once more."""
        for pair in pairs:
            self.link(*pair).unblock()
        self.pump()

    def slow_down(self, pairs: Iterable[tuple[str, str]], seconds: float) -> None:
        """Add so much to everything that takes these directions."""
        for pair in pairs:
            self.link(*pair).extra_seconds = seconds

    def reset_connections(self, one: str, other: str) -> None:
        """Break every connection between two hosts off, for both ends to see."""
        for end in self._ends_between(one, other):
            end.loop.world.at(0.0, end.loop, end.reset)

    def forget_connections(self, one: str, other: str) -> None:
        """Let the present connections between two hosts go nowhere, without a word to either end."""
        for end in self._ends_between(one, other):
            end.out.is_blackhole = True

    def hold_connections(self, one: str, other: str, seconds: float) -> None:
        """Let what is on the present connections between two hosts arrive late, and new ones be quick."""
        for end in self._ends_between(one, other):
            end.out.hold(seconds)

    def process_died(self, loop: SimulatedLoop) -> None:
        """A process was killed; its host closes what it held."""
        for end in self._ends_of(loop):
            end.drop()
            end.into.receiver_died()
        self._forget_dead()

    def host_lost_power(self, loop: SimulatedLoop) -> None:
        """A host is gone: nobody is told."""
        self._hosts_down[loop.name] = None
        for end in self._ends_of(loop):
            end.into.receiver_died()
        self._forget_dead()

    def host_came_back(self, host: str) -> None:
        """A host is up again, and knows nothing of its old connections."""
        self._hosts_down.pop(host, None)
        self.pump()

    def heal(self) -> None:
        """Every link is good again."""
        for link in self._links.values():
            link.heal()
        for end in self._ends:
            end.out.release()
        self.pump()

    def pump(self) -> None:
        """Let whatever was held back go on."""
        for end in list(self._ends):
            end.out.pump()

    def _join(
        self, loop: SimulatedLoop, factory: Callable[[], asyncio.BaseProtocol], server: SimulatedServer
    ) -> tuple[SimulatedTransport, asyncio.BaseProtocol]:
        port = self._new_port()
        there, back = Pipe(self), Pipe(self)
        near = SimulatedTransport(loop, loop.name, (server.loop.name, server.port), out=there, into=back)
        far = SimulatedTransport(server.loop, server.loop.name, (loop.name, port), out=back, into=there)
        self._sweep()
        self._ends[near] = self._ends[far] = None
        protocol = factory()
        near.set_protocol(protocol)
        protocol.connection_made(near)
        # Until the server's process gets to it, what arrives waits in its kernel.
        far.is_read_paused = True
        self.world.at(0.0, server.loop, _accept, server, far)
        return near, protocol

    def _sweep(self) -> None:
        """Forget connections of which both ends are gone."""
        if len(self._ends) > 256:
            self._ends = {end: None for end in self._ends if not (end.is_gone and end.into.sender.is_gone)}

    def _forget_dead(self) -> None:
        for key in [key for key, server in self._servers.items() if server.loop.is_dead]:
            del self._servers[key]

    def _ends_of(self, loop: SimulatedLoop) -> list[SimulatedTransport]:
        return [end for end in self._ends if end.loop is loop]

    def _ends_between(self, one: str, other: str) -> list[SimulatedTransport]:
        hosts = {(one, other), (other, one)}
        return [end for end in self._ends if (end.host, end.into.sender.host) in hosts]

    def _new_port(self) -> int:
        self._ports += 1
        return self._ports


def _accept(server: SimulatedServer, end: SimulatedTransport) -> None:
    """Runs in the server's process."""
    if not server.is_serving():
        end.drop()
        return
    protocol = server.make_protocol()
    end.set_protocol(protocol)
    protocol.connection_made(end)
    if not end.is_closing():
        end.resume_reading()


def _fail(answered: "asyncio.Future[object]", error: OSError) -> None:
    if not answered.done():
        answered.set_exception(error)
