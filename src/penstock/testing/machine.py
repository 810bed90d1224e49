"""The machine that a broker in a thread runs on: disk, clock, port and links, which outlive its deaths."""

import asyncio
import socket
from random import Random
from typing import Protocol

from penstock.broker.workers import BlockingWorkers
from penstock.model.errors import OperatingError
from penstock.storage.filesystem import FileSystem
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.testing.inline_workers import InlineWorkers
from penstock.testing.links import Network
from penstock.testing.movable_clock import MovableClock

HOST = "127.0.0.1"
MEMORY_DIRECTORY = "/data"


class MortalThreads(BlockingWorkers, Protocol):
    """Workers that can be told to drop everything."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        ...

    def abandon(self) -> None:
        """Begin nothing more."""


class Disk(Protocol):
    """Where a broker keeps its data."""

    @property
    def filesystem(self) -> FileSystem:
        """Its files; another one for every process."""
        ...

    @property
    def directory(self) -> str:
        """Where the broker's own are."""
        ...

    @property
    def is_kept(self) -> bool:
        """Whether the data is worth a clean stop, since somebody may use it afterwards."""
        ...

    def new_workers(self, loop: asyncio.AbstractEventLoop) -> MortalThreads:
        """What does the blocking work of one process."""
        ...

    def process_ended(self) -> None:
        """Close what the process left open."""

    def wipe(self) -> None:
        """Forget all data."""

    def close(self) -> None:
        """The machine is not used any more."""


class MemoryDisk:
    """A disk in memory, which survives the broker's death as a page cache survives a process."""

    is_kept = False

    def __init__(self) -> None:
        self.directory = MEMORY_DIRECTORY
        self.wipe()

    def new_workers(self, loop: asyncio.AbstractEventLoop) -> MortalThreads:
        """There is nothing to wait for."""
        return InlineWorkers(loop)

    def process_ended(self) -> None:
        """What it wrote stays, what it held is gone."""
        self.filesystem.crash()

    def wipe(self) -> None:
        """Take an empty disk."""
        self.filesystem = MemoryFileSystem(Random(0))

    def close(self) -> None:
        """Nothing is left of it."""


class Port:
    """A port of loopback that is ours for as long as we want, also while nobody listens on it."""

    def __init__(self, wanted: int = 0) -> None:
        self._holder = socket.socket()
        # A listener that reuses addresses, as brokers do, gets a port that is bound but not listened on.
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._holder.bind((HOST, wanted))
        except OSError as error:
            self._holder.close()
            raise OperatingError(f"Cannot have port {wanted} of {HOST}: {error.strerror}.") from error
        self.number = int(self._holder.getsockname()[1])

    def close(self) -> None:
        """Give it back."""
        self._holder.close()


class Machine:
    """What one broker in a thread runs on."""

    def __init__(self, disk: Disk, network: Network, clock: MovableClock, port: Port) -> None:
        self.disk = disk
        self.network = network
        self.clock = clock
        self.port = port

    def wipe(self) -> None:
        """Become as new, at the same port."""
        self.disk.wipe()
        self.clock.offset_seconds = 0.0

    def close(self) -> None:
        """Give everything back."""
        self.port.close()
        self.disk.close()
