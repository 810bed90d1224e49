"""A machine with a disk, on which a broker process starts, dies and starts again."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.broker.broker import Broker
from penstock.config.sources import load_broker_config
from penstock.model.errors import OperatingError, StorageError
from penstock.sim.network.network import Network
from penstock.sim.runtime.clock import SimulatedClock
from penstock.sim.runtime.descriptor_flusher import SimulatedDescriptorFlusher
from penstock.sim.runtime.disk import SimulatedDisk
from penstock.sim.runtime.entropy import SeededEntropy
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.workers import DiskSpeed, SimulatedWorkers
from penstock.sim.runtime.world import World
from penstock.storage.flush_failures import keeps_from_restarting, record_flush_failure

DATA_DIRECTORY = "/data"
PORT = 9092
RESTART_SECONDS = 1.0
"""How long a supervisor waits before it starts a process again that has ended by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """What one machine is like."""

    name: str
    #: Whether it begins the cluster; others join.
    is_founder: bool = True
    #: Whether it is there from the beginning, and not only once somebody switches it on.
    is_early: bool = True
    #: Addresses of others by which it finds the cluster, unless it has just begun it.
    others: tuple[str, ...] = ()
    #: Kafka's settings of the broker, beside those that every simulated broker needs.
    flags: Mapping[str, str] = field(default_factory=dict)
    drift: float = 1.0
    wall_offset_ms: int = 0
    #: Whether its kernel flushes files by itself; otherwise blocking work does.
    has_kernel_flush: bool = False


def _nothing() -> None:
    """Nothing happens."""


class Node:
    """One machine of the cluster."""

    def __init__(self, world: World, network: Network, settings: NodeSettings, *, speed: DiskSpeed) -> None:
        self.world = world
        self.settings = settings
        self.speed = speed
        self.disk = SimulatedDisk(world.stream(f"{settings.name}/disk"))
        #: The process that runs, if one does.
        self.broker: Broker | None = None
        self.is_serving = False
        #: Whether it has been told to stop and has not come to that yet; it may go on to lead for a while.
        self.is_leaving = False
        self.boots = 0
        #: Who it was when it last served; None before.
        self.node_id: int | None = None
        #: Whether the world wants this machine to run; otherwise a process that ends stays down.
        self.is_wanted = settings.is_early
        #: What happens to the machine before its next process starts.
        self.before_start: Callable[[], None] = _nothing
        #: Told about everything that happens to it.
        self.on_change: Callable[[str], None] = lambda what: None
        self._network = network
        self._loop: SimulatedLoop | None = None
        self._clock: SimulatedClock | None = None
        self._stopping: asyncio.Event | None = None
        self._lost_power = False
        self._disk_count = 1
        self._wall_offset_ms = settings.wall_offset_ms

    @property
    def name(self) -> str:
        """Its host name."""
        return self.settings.name

    @property
    def is_up(self) -> bool:
        """Whether a process runs here, serving or not."""
        return self._loop is not None

    # What the plan does to it.

    def boot(self) -> None:
        """Start a process on what the last one left."""
        if self._loop is not None or not self.is_wanted:
            return
        if self.boots:
            (self.disk.power_loss if self._lost_power else self.disk.crash)()
            self.before_start()
            self.before_start = _nothing
        self._lost_power = False
        self.boots += 1
        self._network.host_came_back(self.name)
        self._loop = new_loop(self.world, self.name, network=self._network, drift=self.settings.drift)
        self._clock = SimulatedClock(self._loop, wall_offset_ms=self._wall_offset_ms)
        self.on_change("starts")
        self._loop.create_task(self._live(self._loop, self._clock), name=f"process {self.boots}")

    def kill(self) -> None:
        """End the process; the machine, and its page cache, stay."""
        if (ended := self._end("is killed")) is not None:
            self._network.process_died(ended)

    def lose_power(self) -> None:
        """End the machine."""
        ended = self._end("loses power")
        self._lost_power = True
        if ended is not None:
            self._network.host_lost_power(ended)

    def lose_disk(self) -> None:
        """End the machine, and everything it ever wrote down."""
        self.lose_power()
        self._disk_count += 1
        self.disk = SimulatedDisk(self.world.stream(f"{self.name}/disk-{self._disk_count}"))
        self.on_change("gets an empty disk")

    def switch_on(self) -> None:
        """Let the machine run from now on."""
        self.is_wanted = True
        self.boot()

    def switch_off(self) -> None:
        """Ask the process to end in good order, for good."""
        self.is_wanted = False
        self.stop()

    def stop(self) -> None:
        """Ask the process to end in good order."""
        if self._stopping is not None and self._loop is not None:
            self.on_change("is told to stop")
            self.world.at(0.0, self._loop, self._stopping.set)

    def pause(self) -> None:
        """Stop the process as SIGSTOP does."""
        if self._loop is not None:
            self.on_change("is paused")
            self._loop.pause()

    def resume(self) -> None:
        """Let a paused process go on."""
        if self._loop is not None and self._loop.is_paused:
            self.on_change("goes on")
            self._loop.resume()

    def move_wall(self, milliseconds: int) -> None:
        """Put the wall clock forward or back, for this process and later ones."""
        self._wall_offset_ms += milliseconds
        if self._clock is not None:
            self._clock.wall_offset_ms = self._wall_offset_ms

    def set_wall_right(self) -> None:
        """Let the wall clock be what it was at the beginning."""
        self.move_wall(self.settings.wall_offset_ms - self._wall_offset_ms)

    def _end(self, how: str) -> SimulatedLoop | None:
        """The process that ran here until now, if one did."""
        if self._loop is None:
            return None
        self.on_change(how)
        ended = self._loop
        ended.kill()
        self.disk.appointed.stop()
        self._loop, self._clock, self._stopping = None, None, None
        self.broker, self.is_serving, self.is_leaving = None, False, False
        return ended

    # The process.

    async def _live(self, loop: SimulatedLoop, clock: SimulatedClock) -> None:
        try:
            await self._serve(loop, clock)
        except OperatingError as error:
            self._exit(f"cannot run: {error!r}")
        else:
            self._exit("has stopped")

    async def _serve(self, loop: SimulatedLoop, clock: SimulatedClock) -> None:
        stream = f"{self.name}/{self.boots}"
        workers = SimulatedWorkers(loop, self.speed, self.world.stream(f"{stream}/workers"))
        self.broker = Broker(
            load_broker_config(flags=self._flags()),
            data_directory=DATA_DIRECTORY,
            loop=loop,
            filesystem=self.disk,
            clock=clock,
            entropy=SeededEntropy(self.world.stream(f"{stream}/entropy")),
            on_fatal=self._fail,
            workers=workers,
            descriptors=(
                SimulatedDescriptorFlusher(self.disk, workers) if self.settings.has_kernel_flush else None
            ),
        )
        self._stopping = asyncio.Event()
        await self.broker.start()
        self.is_serving = True
        self.node_id = self.broker.node_id
        self.on_change(f"serves as node {self.node_id}")
        await self._stopping.wait()
        self.is_serving, self.is_leaving = False, True
        await self.broker.stop()

    def _flags(self) -> dict[str, str]:
        flags = {
            "listeners": f"PLAINTEXT://{self.name}:{PORT}",
            "kernel.flush.enable": "false",
            **self.settings.flags,
        }
        if self.settings.others and not (self.settings.is_founder and self.boots == 1):
            flags["controller.quorum.bootstrap.servers"] = ",".join(self.settings.others)
        return flags

    def _fail(self, error: Exception) -> None:
        """As a process does after a failed flush, which it notes, and after a bug: end at once."""
        is_noted = isinstance(error, StorageError) and keeps_from_restarting(error)
        if self._clock is not None and is_noted:
            record_flush_failure(self.disk, DATA_DIRECTORY, self._clock.wall_ms())
        self._exit(f"fails: {error}")

    def _exit(self, how: str) -> None:
        """The process ends by itself; somebody starts it again."""
        if (ended := self._end(how)) is not None:
            self._network.process_died(ended)
            self.world.at(RESTART_SECONDS, self._network.environment, self.boot)
