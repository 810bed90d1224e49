"""Links between brokers: a cut says nothing and loses nothing, and heals with everything that waited."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from penstock.testing.links import Links, Network

OWN_PORT = 1


class Recorder(asyncio.BufferedProtocol):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.lost = asyncio.Event()
        self.transport: asyncio.Transport | None = None
        self._buffer = bytearray(1024)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.heard += self._buffer[:nbytes]

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


class Scene:
    """A server that hears, and a client whose link to it can be cut."""

    def __init__(self, server: asyncio.Server, accepted: list[Recorder]) -> None:
        self.server = server
        self.accepted = accepted
        self.port = int(server.sockets[0].getsockname()[1])
        self.network = Network()
        self.links = Links(self.network, OWN_PORT)
        self.client = Recorder()

    async def connect(self) -> None:
        await self.links.wait_open(self.port)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self.links.watch(self.client, self.port), "127.0.0.1", self.port)
        await until(lambda: self.accepted)

    def cut(self) -> None:
        self.network.cut([[OWN_PORT], [self.port]])
        self.links.changed()

    def heal(self) -> None:
        self.network.heal()
        self.links.changed()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


def play(script: Callable[[Scene], Awaitable[None]]) -> None:
    async def run() -> None:
        accepted: list[Recorder] = []

        def accept() -> Recorder:
            accepted.append(Recorder())
            return accepted[-1]

        server = await asyncio.get_running_loop().create_server(accept, "127.0.0.1", 0)
        scene = Scene(server, accepted)
        try:
            await script(scene)
        finally:
            scene.heal()
            for each in (scene.client, *accepted):
                if each.transport is not None:
                    each.transport.abort()
            server.close()
            await server.wait_closed()

    asyncio.run(run())


def test_cut_link_delivers_in_both_directions_when_it_heals() -> None:
    async def script(scene: Scene) -> None:
        await scene.connect()
        (peer,) = scene.accepted
        assert scene.client.transport is not None
        assert peer.transport is not None
        scene.client.transport.write(b"before ")
        await until(lambda: peer.heard == b"before ")
        scene.cut()
        scene.client.transport.write(b"after")
        peer.transport.write(b"answer")
        await asyncio.sleep(0.05)
        assert (bytes(peer.heard), bytes(scene.client.heard)) == (b"before ", b"")
        scene.heal()
        await until(lambda: peer.heard == b"before after" and scene.client.heard == b"answer")

    play(script)


def test_hanging_up_across_a_cut_link_is_heard_when_it_heals() -> None:
    async def script(scene: Scene) -> None:
        await scene.connect()
        (peer,) = scene.accepted
        assert scene.client.transport is not None
        scene.cut()
        scene.client.transport.abort()
        await asyncio.wait_for(scene.client.lost.wait(), 10)
        assert scene.client.transport.is_closing()
        assert not peer.lost.is_set()
        scene.heal()
        await asyncio.wait_for(peer.lost.wait(), 10)

    play(script)


def test_connecting_across_a_cut_link_waits() -> None:
    async def script(scene: Scene) -> None:
        scene.cut()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(scene.connect(), 0.05)
        assert not scene.accepted
        scene.heal()
        await asyncio.wait_for(scene.connect(), 10)

    play(script)


def test_network_is_cut_between_groups_and_not_within() -> None:
    network = Network()
    network.cut([[1], [2, 3]])
    links = Links(network, 2)
    assert (links.is_cut(1), links.is_cut(3), links.is_cut(4)) == (True, False, False)
    network.cut([[2], [4]])
    assert links.is_cut(4)
    network.heal()
    assert not links.is_cut(1)
