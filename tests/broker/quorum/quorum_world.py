"""Several nodes of a quorum in one process: virtual time, simulated disks and network, real frames."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar, cast

from penstock.broker.broker import Broker
from penstock.broker.dispatch import Dispatch
from penstock.broker.flusher import Flusher
from penstock.broker.peers.address import Address
from penstock.broker.peers.peers import Peers
from penstock.broker.quorum.opening import open_quorum
from penstock.broker.quorum.quorum import Quorum
from penstock.broker.quorum.surroundings import QuorumOptions, QuorumSurroundings
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.config.sources import load_broker_config
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord
from penstock.metadata.result import Result
from penstock.metadata.snapshot import image_fingerprint
from penstock.model.errors import PenstockError, StorageError
from penstock.model.ids import NodeId
from penstock.raft.replica import Endpoint, Voter
from penstock.raft.settings import RaftSettings
from penstock.records.batch import split_batches
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.clock import SimulatedClock
from penstock.sim.runtime.disk import SimulatedDisk
from penstock.sim.runtime.entropy import SeededEntropy
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.workers import DiskSpeed, SimulatedWorkers
from penstock.sim.runtime.world import World
from penstock.storage.log_directory import DirectoryOptions, LogDirectory

T = TypeVar("T")

CLUSTER_ID = "quorum-of-a-test-abcde"
PORT = 9092
STEP_SECONDS = 0.005
SETTINGS = RaftSettings(election_timeout_ms=600, heartbeat_interval_ms=100)


@dataclass(slots=True)
class Call:
    """Something asked of a node, and what came of it."""

    result: Any = None
    error: BaseException | None = None
    is_done: bool = False


class QuorumProcess:
    """One process: as much of a broker as the quorum needs."""

    is_ready = True

    def __init__(self, node: "QuorumNode", loop: SimulatedLoop, options: QuorumOptions) -> None:
        self.node = node
        self.loop = loop
        self.quorum: Quorum | None = None
        self.images: list[ClusterImage] = []
        self.tasks = Tasks(loop)
        self._options = options
        world, stream = node.world.world, f"{node.name}/{node.boots}"
        self.clock = SimulatedClock(loop)
        self.entropy = SeededEntropy(world.stream(f"{stream}/entropy"))
        self.workers = SimulatedWorkers(loop, node.speed, world.stream(f"{stream}/workers"))
        self.flusher = Flusher(
            self.workers, None, loop.call_soon, on_full=self._disk_is_full, on_fatal=self._fail
        )
        self.peers = Peers(loop=loop, clock=self.clock, client_id=node.name, address_of=self._address_of)
        self.server = Server(load_broker_config(flags={}), Dispatch(cast(Broker, self)), self.clock)

    async def live(self) -> None:
        directory = await self.workers.call(self._open_directory)
        await self.server.bind(self.node.name, PORT)
        around = QuorumSurroundings(
            loop=self.loop,
            clock=self.clock,
            entropy=self.entropy,
            filesystem=self.node.disk,
            workers=self.workers,
            tasks=self.tasks,
            flusher=self.flusher,
            directory=directory,
            tail_cache=None,
            peers=self.peers,
            checkpoint=self._checkpoint,
            fail=self._fail,
        )
        self._directory = directory
        quorum = await open_quorum(self._options, around)
        quorum.addresses.own = Address(self.node.name, PORT)
        quorum.on_change = lambda before, image: self.images.append(image)
        self.quorum = quorum
        await self.server.accept()
        await quorum.start()

    async def _checkpoint(self) -> None:
        await self.workers.call(self._directory.begin_checkpoint(self.clock.wall_ms()).run)

    def _open_directory(self) -> LogDirectory:
        options = DirectoryOptions(
            node_id=NodeId(self.node.node_id), cluster_id=CLUSTER_ID, new_uuid=self.entropy.uuid
        )
        return LogDirectory.open(self.node.disk, "/data", options, now=self.clock.wall_ms())

    def _address_of(self, node_id: NodeId) -> Address | None:
        return None if self.quorum is None else self.quorum.addresses.address_of(node_id)

    def _disk_is_full(self) -> None:
        assert self.quorum is not None
        self.tasks.start(self.quorum.write_again(), name="write again")

    def _fail(self, error: StorageError) -> None:
        self.node.failures.append(str(error))
        self.node.kill()


class QuorumNode:
    """A machine with a disk."""

    def __init__(self, world: "QuorumWorld", node_id: int) -> None:
        self.world = world
        self.node_id = node_id
        self.name = f"node{node_id}"
        self.disk = SimulatedDisk(Random(f"{world.world.seed}/{self.name}"))
        self.speed = DiskSpeed()
        self.boots = 0
        self._lost_power = False
        self.failures: list[str] = []
        self.process: QuorumProcess | None = None
        self.options = QuorumOptions(
            node_id=NodeId(node_id),
            founds=node_id == 1,
            endpoints=(Endpoint(name="PLAINTEXT", host=self.name, port=PORT),),
            bootstrap=() if node_id == 1 else (Address("node1", PORT), Address("node2", PORT)),
            settings=SETTINGS,
        )

    @property
    def quorum(self) -> Quorum:
        assert self.process is not None
        assert self.process.quorum is not None, f"{self.name} is not up: {self.failures}"
        return self.process.quorum

    @property
    def is_up(self) -> bool:
        return self.process is not None and self.process.quorum is not None

    @property
    def is_leader(self) -> bool:
        return self.is_up and self.quorum.is_leader

    @property
    def voter(self) -> Voter:
        return Voter(key=self.quorum.key, endpoints=self.options.endpoints)

    def boot(self, **options: Any) -> None:
        assert self.process is None
        self.options = replace(self.options, **options)
        if self.boots:
            (self.disk.power_loss if self._lost_power else self.disk.crash)()
        self._lost_power = False
        self.boots += 1
        self.world.network.host_came_back(self.name)
        loop = new_loop(self.world.world, self.name, network=self.world.network)
        self.process = process = QuorumProcess(self, loop, self.options)
        self.world.world.at(0.0, loop, self._start, process)

    def kill(self, *, loses_power: bool = False) -> None:
        if self.process is None:
            return
        process, self.process = self.process, None
        process.loop.kill()
        self.disk.appointed.stop()
        self._lost_power = loses_power
        if loses_power:
            self.world.network.host_lost_power(process.loop)
        else:
            self.world.network.process_died(process.loop)

    def die(self) -> None:
        """Lose power in the middle of an operation of the disk's."""
        self.kill(loses_power=True)

    def call(self, function: Callable[[], Coroutine[Any, Any, Any]]) -> Call:
        """Have something done in the process; it goes on as the world does."""
        call = Call()

        async def run() -> None:
            try:
                call.result = await function()
            except PenstockError as error:
                call.error = error
            call.is_done = True

        assert self.process is not None
        process = self.process
        self.world.world.at(0.0, process.loop, lambda: process.tasks.start(run(), name="call of a test"))
        return call

    def submit(self, name: str, level: int = 1) -> Call:
        return self.call(lambda: self.quorum.submit(set_feature(name, level)))

    def _start(self, process: QuorumProcess) -> None:
        async def live() -> None:
            try:
                await process.live()
            except PenstockError as error:
                self.failures.append(str(error))
                self.kill()

        process.tasks.start(live(), name="process")


class QuorumWorld:
    """All of them."""

    def __init__(self, seed: int = 1, count: int = 3) -> None:
        self.world = World(seed)
        environment = new_loop(self.world, "environment")
        self.network = Network(self.world, environment, NetworkHabits())
        self.nodes = [QuorumNode(self, number + 1) for number in range(count)]

    def run(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        assert not self.world.accidents, self.world.accidents

    def until(self, condition: Callable[[], bool], *, seconds: float = 30.0) -> None:
        deadline = self.world.now + seconds
        while not condition():
            assert self.world.now < deadline, f"still not so after {seconds} s"
            self.run(STEP_SECONDS)

    def done(self, call: Call, *, seconds: float = 30.0) -> Any:
        """What was asked for, once it is done; raises what it raised."""
        self.until(lambda: call.is_done, seconds=seconds)
        if call.error is not None:
            raise call.error
        return call.result

    @property
    def up(self) -> list[QuorumNode]:
        return [node for node in self.nodes if node.is_up]

    @property
    def leader(self) -> QuorumNode:
        (leader,) = [node for node in self.nodes if node.is_leader]
        return leader

    def until_led(self, *, but: QuorumNode | None = None) -> QuorumNode:
        self.until(lambda: any(node.is_leader and node is not but for node in self.nodes))
        return next(node for node in self.nodes if node.is_leader and node is not but)

    def found(self, *, voters: int = 3) -> QuorumNode:
        """Everybody runs, the first ones vote, the very first one leads."""
        for node in self.nodes:
            node.boot()
        leader = self.until_led()
        for node in self.nodes[1:voters]:
            self.until(lambda node=node: node.is_up and self._follows(leader, node))  # type: ignore[misc]
            self.done(leader.call(lambda node=node: leader.quorum.add_voter(node.voter)))  # type: ignore[misc]
        self.until_agreed()
        return leader

    def until_agreed(self) -> None:
        """Everybody who runs has the same image of the same log."""
        self.until(lambda: len(self.up) == sum(node.process is not None for node in self.nodes))
        self.until(lambda: len({node.quorum.applied_offset for node in self.up}) == 1)
        self.until(lambda: len({node.quorum.log.flushed_offset for node in self.up}) == 1)
        fingerprints = {image_fingerprint(node.quorum.image) for node in self.up}
        assert len(fingerprints) == 1

    def submit(self, name: str, level: int = 1) -> None:
        self.done(self.until_led().submit(name, level))

    def _follows(self, leader: QuorumNode, node: QuorumNode) -> bool:
        return any(each.node_id == node.node_id for each in leader.quorum.facts().observers)


def set_feature(name: str, level: int) -> Callable[[ClusterImage], Result[int]]:
    """A decision that is easily recognised in an image."""
    return lambda image: Result(records=(FeatureLevelRecord(name=name, feature_level=level),), response=level)


def features(node: QuorumNode) -> dict[str, int]:
    return dict(node.quorum.image.features)


def log_bytes(node: QuorumNode) -> bytes:
    log, data = node.quorum.log, b""
    offset = log.log_start_offset
    while offset < log.flushed_offset:
        piece = log.read(offset, max_bytes=10**6, end_offset=log.flushed_offset).read_bytes()
        data += piece
        offset = [header.next_offset for _, header in split_batches(piece)][-1]
    return data
