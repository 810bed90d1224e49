"""Links between brokers that can be cut where nobody may make hosts: a proxy in front of each broker.

Brokers tell each other, and clients, to connect to their proxies. A proxy finds out by the kernel's tables
which broker has called, if any; clients are always let through. What may not pass in one direction is not
read, so it waits in the sender's buffers, as on a network that loses everything until it is healed.
"""

import asyncio
import contextlib
import gc
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.broker_process import Server

PIECE_BYTES = 65_536
START_SECONDS_MAX = 10.0
SETTLING_TURNS = 10
LOOKS = 3

Link = tuple[int, int]


class ProxyNetwork:
    """Some brokers behind proxies, who reach each other until somebody cuts them off."""

    def __init__(self) -> None:
        self._servers: dict[int, Server] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        self._listeners: list[asyncio.Server] = []
        self._calls: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._cuts: set[Link] = set()
        self._healed = asyncio.Event()

    def settle(self, server: Server, host: int) -> None:
        """Put a proxy before a broker that has not started yet."""
        self._servers[host] = server
        port = self._on_loop(self._listen(host))
        server.advertise(port)

    def cut(self, sender: int, receiver: int) -> None:
        """Let nothing pass in this direction."""
        self._on_loop(self._change(lambda: self._cuts.add((sender, receiver))))

    def isolate(self, host: int, others: Iterable[int]) -> None:
        """Cut a host off from others, in both directions; not from us."""
        for other in others:
            if other != host:
                self.cut(host, other)
                self.cut(other, host)

    def heal(self) -> None:
        """Let everything pass again."""
        self._on_loop(self._change(self._cuts.clear))

    # In the thread.

    async def _change(self, change: Callable[[], object]) -> None:
        change()
        self._healed.set()
        self._healed = asyncio.Event()

    async def _listen(self, host: int) -> int:
        def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            call = self._loop.create_task(self._connect(host, reader, writer))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            self._ends.add(writer)
            call.add_done_callback(lambda ended: self._hang_up(writer))  # also when it never began

        listener = await asyncio.start_server(called, "127.0.0.1", 0)
        self._listeners.append(listener)
        return int(listener.sockets[0].getsockname()[1])

    async def _connect(self, host: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller = self._caller(writer.get_extra_info("peername")[1])
        with contextlib.suppress(ConnectionError):
            there, back = await asyncio.open_connection("127.0.0.1", self._port(self._servers[host]))
            self._ends.add(back)
            ways = (self._carry(reader, back, (caller, host)), self._carry(there, writer, (host, caller)))
            tasks = [self._loop.create_task(way) for way in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                self._hang_up(back)

    def _hang_up(self, end: asyncio.StreamWriter) -> None:
        self._ends.discard(end)
        end.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, link: Link) -> None:
        while True:
            while link in self._cuts:
                await self._healed.wait()
            if not (piece := await source.read(PIECE_BYTES)):
                return
            while link in self._cuts:
                await self._healed.wait()
            target.write(piece)
            await target.drain()

    def _caller(self, port: int) -> int:
        """Which broker has the socket on this port; 0 when it is none of them."""
        inodes: set[str] = set()
        for _ in range(LOOKS):  # the kernel may leave a socket out while others come and go
            inodes |= {each.inode for each in _sockets() if each.port == port}
        for host, server in self._servers.items():
            if server.is_running and not inodes.isdisjoint(_inodes_of(server.pid)):
                return host
        return 0

    def _port(self, server: Server) -> int:
        """Where a broker listens, which it tells us only when it is ready."""
        if server.is_running and not server.port:
            inodes = _inodes_of(server.pid)
            return next((each.port for each in _sockets() if each.is_listening and each.inode in inodes), 0)
        return server.port

    # The thread itself.

    def _on_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(START_SECONDS_MAX)

    async def _close(self) -> None:
        for listener in self._listeners:
            listener.close()
        for _ in range(SETTLING_TURNS):  # somebody may just be calling, and sockets close a turn later
            for call in self._calls:
                call.cancel()
            for end in list(self._ends):
                self._hang_up(end)
            await asyncio.sleep(0.01)

    def start(self) -> None:
        """Begin to forward."""
        self._thread.start()

    def stop(self) -> None:
        """Hang up everywhere."""
        self._on_loop(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS_MAX)
        self._loop.close()
        with warnings.catch_warnings():
            # Clients go on calling: whoever was let in by the very last turns is dropped without a word.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@contextlib.contextmanager
def proxy_network() -> Iterator[ProxyNetwork]:
    """Proxies that are gone afterwards."""
    network = ProxyNetwork()
    network.start()
    try:
        yield network
    finally:
        network.stop()


class _Socket(NamedTuple):
    """A socket on loopback, as the kernel lists it."""

    port: int
    is_listening: bool
    inode: str


def _sockets() -> Iterator[_Socket]:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_, inode = line.split()[:10]
        address, _, port = local.partition(":")
        if address == "0100007F":
            yield _Socket(int(port, 16), state == "0A", inode)


def _inodes_of(pid: int) -> set[str]:
    """Of all sockets of a process."""
    found = set()
    directory = f"/proc/{pid}/fd"
    for name in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):
            found.add(os.readlink(f"{directory}/{name}").removeprefix("socket:[").removesuffix("]"))
    return found
