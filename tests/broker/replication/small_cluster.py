"""Brokers as far as replication needs them, in a simulated world, and a controller that is always there.

Everything that a broker copies with is the real thing: logs on simulated disks, sockets, fetchers, sessions,
roles. The controller's decisions are the real functions over a cluster image; what is missing is the quorum
that would keep them. Tests decide when brokers hear of them.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar, cast

from penstock.broker.broker import Broker
from penstock.broker.cleaner import Cleaner
from penstock.broker.deadlines import Deadlines
from penstock.broker.dispatch import Dispatch
from penstock.broker.fetch_sessions import FetchSessions
from penstock.broker.flusher import Flusher
from penstock.broker.log_upkeep import LogUpkeep
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.peers.address import Address
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.peers.peers import Peers
from penstock.broker.replicas import Replicas
from penstock.broker.replication.replication import Replication
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.config.sources import load_broker_config
from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.eligibility import with_eligibility
from penstock.metadata.fencing import fence, unfence
from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import preferred_elections
from penstock.metadata.reassignment import move
from penstock.metadata.records import (
    BrokerEndpoint,
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from penstock.metadata.topic_image import PartitionImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError, StorageError
from penstock.model.ids import NodeId, Offset, TopicId, TopicPartition
from penstock.records.batch import split_batches
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord, decode_records
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.clock import SimulatedClock
from penstock.sim.runtime.disk import SimulatedDisk
from penstock.sim.runtime.entropy import SeededEntropy
from penstock.sim.runtime.loop import SimulatedLoop, new_loop
from penstock.sim.runtime.workers import DiskSpeed, SimulatedWorkers
from penstock.sim.runtime.world import World
from penstock.storage.failpoints import parse_failpoints
from penstock.storage.faulty_filesystem import FaultyFileSystem
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.tail_cache import TailCache
from penstock.wire.messages.alter_partition import AlterPartitionRequest
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from penstock.wire.messages.list_offsets import (
    LATEST_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from penstock.wire.schema import Struct

T = TypeVar("T")

PORT = 9092
TOPIC = "orders"
TOPIC_ID = TopicId(b"o" * 16)
SECONDS_MAX = 30.0
SETTINGS = {"replica.lag.time.max.ms": "1000", "kernel.flush.enable": "false"}


class Node:
    """One broker, from a start to its end."""

    def __init__(
        self, cluster: "SmallCluster", node_id: NodeId, epoch: int, settings: Mapping[str, str]
    ) -> None:
        self.cluster = cluster
        self.node_id = node_id
        self.broker_epoch = epoch
        self.name = f"n{node_id}"
        world = cluster.world
        self.loop = new_loop(world, self.name, network=cluster.network)
        self.clock = SimulatedClock(self.loop)
        self.config = load_broker_config(flags={**SETTINGS, "node.id": str(node_id), **settings})
        stream = world.stream(f"{self.name}/{epoch}")
        self.entropy = SeededEntropy(stream)
        self.workers = SimulatedWorkers(self.loop, DiskSpeed(), stream)
        self.tasks = Tasks(self.loop)
        self.deadlines = Deadlines(self.loop)
        self.flusher = Flusher(
            self.workers, None, self.loop.call_soon, on_full=lambda: None, on_fatal=self.fail
        )
        self.replicas = Replicas()
        self.fetch_sessions = FetchSessions(100, lambda: stream.getrandbits(30))
        broker = cast(Broker, self)
        self.cleaner = Cleaner(broker)
        self.upkeep = LogUpkeep(broker)
        self.replication = Replication(broker)
        self.server = Server(self.config, Dispatch(broker), self.clock)
        self.peers = Peers(
            loop=self.loop,
            clock=self.clock,
            client_id=self.name,
            address_of=lambda id: Address(f"n{id}", PORT),
        )
        #: How it reaches the controller; None while it cannot.
        self.control = self
        self.is_ready = True
        self.can_reach_controller = True
        self.hears_metadata = True
        self.asked_controller: list[AlterPartitionRequest] = []
        self.failures: list[StorageError] = []
        self.image = ClusterImage()
        self._followed = ClusterImage()
        self._told = asyncio.Event()
        self.is_following = False
        #: Its disk, which may be told to fail.
        self.filesystem = FaultyFileSystem(cluster.disks[node_id], cluster.failpoints.pop(node_id, ""))
        self.log_directory: LogDirectory = None  # type: ignore[assignment] # there once it has started
        self.partitions: Partitions = None  # type: ignore[assignment] # likewise

    async def live(self) -> None:
        self.log_directory = await self.workers.call(self._open_directory)
        self.partitions = Partitions(
            node_id=self.node_id,
            directory=self.log_directory,
            replicas=self.replicas,
            flusher=self.flusher,
            workers=self.workers,
            tail_cache=TailCache(1 << 20),
            clock=self.clock,
            cleaner=self.cleaner,
            upkeep=self.upkeep,
            replication=self.replication,
        )
        self.image = self._followed = self.cluster.image
        await self.partitions.load(self.image, self.config)
        self.partitions.take_roles(self.image)
        self.replication.follow(self.image)
        self.replication.start()
        await self.server.bind(self.name, PORT)
        await self.server.accept()
        while True:
            self.is_following = True
            await self._told.wait()
            self._told.clear()
            while self._followed is not self.image:
                before, self._followed = self._followed, self.image
                await self.partitions.follow(before, self._followed, self.config)
                changed = self._followed.resources_changed_since(before)
                self.partitions.configure(self._followed, self.config, changed)
                self.replication.follow(self._followed)

    def hear(self) -> None:
        if self.hears_metadata and self.is_following:
            self.image = self.cluster.image
            self._told.set()

    @property
    def is_settled(self) -> bool:
        """Whether it has done everything it has heard of."""
        return self.is_following and self._followed is self.image and self.image is self.cluster.image

    async def ask(self, request: Struct, *, seconds_max: float) -> Any:
        """Stands for the way to the controller."""
        assert isinstance(request, AlterPartitionRequest)
        await asyncio.sleep(0.001)
        if not self.can_reach_controller:
            raise PeerError("the controller cannot be reached", was_sent=False)
        self.asked_controller.append(request)
        result = alter_partition(self.cluster.image, request)
        self.cluster.append(result.records)
        return result.response

    def partition(self, index: int = 0, topic: str = TOPIC) -> Partition:
        return self.replicas.by_name(topic, index)

    def values(self, index: int = 0) -> list[bytes]:
        """Everything in the log, flushed or not."""
        log = self.partition(index).log
        offset, found = log.log_start_offset, []
        while offset < log.flushed_offset:
            data = log.read(offset, max_bytes=1 << 20, end_offset=log.flushed_offset).read_bytes()
            for position, header in split_batches(data):
                if not header.is_control:
                    records = decode_records(data, header, position)
                    found += [each.value or b"" for each in records if each.offset >= offset]
                offset = header.next_offset
        return found

    def strike(self, failpoints: str) -> None:
        """Have the disk fail in these ways from now on, and in no others."""
        self.filesystem._faults._failpoints = parse_failpoints(failpoints)

    def check_writable(self) -> None:
        """There is room."""

    def fail(self, error: StorageError) -> None:
        self.failures.append(error)

    def report_corruption(self, partition: Partition, error: CorruptLogError) -> None:
        self.failures.append(error)

    def report_unreadable(self, partition: Partition, error: StorageError) -> None:
        self.failures.append(error)

    async def stop(self) -> None:
        """As a broker does that is told to."""
        await self.replication.stop()
        await self.cleaner.stop()
        await self.server.stop(1.0)
        self.peers.close()
        await self.tasks.stop()
        await self.flusher.drain()
        for log in self.log_directory.logs.values():
            log.close()
        self.log_directory.close(self.clock.wall_ms())

    async def checkpoint(self) -> None:
        marks = {
            TopicPartition(each.topic, each.index): Offset(each.high_watermark) for each in self.replicas
        }
        job = self.log_directory.begin_checkpoint(self.clock.wall_ms(), marks)
        await self.workers.call(job.run)

    def _open_directory(self) -> LogDirectory:
        options = DirectoryOptions(node_id=self.node_id, new_uuid=self.entropy.uuid)
        return LogDirectory.open(self.filesystem, "/data", options, now=self.clock.wall_ms())


class SmallCluster:
    """Brokers 1 to ``count``, a controller, and a client."""

    def __init__(self, count: int = 3, *, seed: int = 1, settings: Mapping[str, str] | None = None) -> None:
        self.world = World(seed)
        self.network = Network(self.world, new_loop(self.world, "environment"), NetworkHabits())
        self.client_loop: SimulatedLoop = new_loop(self.world, "client", network=self.network)
        self.client = Peers(
            loop=self.client_loop,
            clock=SimulatedClock(self.client_loop),
            client_id="client",
            address_of=lambda id: Address(f"n{id}", PORT),
        )
        self.settings = dict(settings or {})
        self.disks = {
            NodeId(id): SimulatedDisk(self.world.stream(f"n{id}/disk")) for id in range(1, count + 1)
        }
        #: How the disk of a broker's next process fails.
        self.failpoints: dict[int, str] = {}
        self.nodes: dict[int, Node] = {}
        self.image = ClusterImage()
        self._epoch = 0
        for id in range(1, count + 1):
            self.register(id)
        for id in range(1, count + 1):
            self.boot(id)

    # The controller.

    @property
    def partition(self) -> PartitionImage:
        return self.image.topics[TOPIC].partitions[0]

    def append(self, records: Iterable[MetadataRecord]) -> None:
        batch = tuple(records)
        if batch:
            self.image = self.image.apply(batch)
            self.tell_everybody()

    def tell_everybody(self) -> None:
        for node in self.nodes.values():
            self.world.at(0.001, node.loop, node.hear)

    def register(self, id: int, *, is_fenced: bool = False) -> int:
        self._epoch += 1
        self.append(
            [
                RegisterBrokerRecord(
                    broker_id=id,
                    broker_epoch=self._epoch,
                    incarnation_id=self._epoch.to_bytes(16, "big"),
                    end_points=(
                        BrokerEndpoint(name="PLAINTEXT", host=f"n{id}", port=PORT, security_protocol=0),
                    ),
                    rack=f"rack-{id}",
                    fenced=is_fenced,
                    log_dirs=(bytes([id]) * 16,),
                )
            ]
        )
        return self._epoch

    def make_topic(
        self,
        *assignments: tuple[int, ...],
        topic: str = TOPIC,
        topic_id: TopicId = TOPIC_ID,
        **configs: str,
    ) -> None:
        """One partition for each assignment; the first of its brokers leads. Underscores stand for dots."""
        records: list[MetadataRecord] = [TopicRecord(name=topic, topic_id=topic_id)]
        records += [self.setting(name.replace("_", "."), value, topic) for name, value in configs.items()]
        records += [
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=replicas,
                isr=replicas,
                leader=replicas[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=tuple(bytes([id]) * 16 for id in replicas),
            )
            for index, replicas in enumerate(assignments)
        ]
        self.append(records)
        self.settle()

    def setting(self, name: str, value: str, topic: str = TOPIC) -> ConfigRecord:
        return ConfigRecord(resource_type=2, resource_name=topic, name=name, value=value)

    def configure(self, name: str, value: str) -> None:
        self.append(with_eligibility(self.image, [self.setting(name, value)]))

    def delete_topic(self) -> None:
        self.append([RemoveTopicRecord(topic_id=TOPIC_ID)])

    def fence(self, *ids: int) -> None:
        self.append(fence(self.image, *map(NodeId, ids)))

    def unfence(self, id: int) -> None:
        self.append(unfence(self.image, NodeId(id)))

    def elect_preferred(self) -> None:
        self.append(preferred_elections(self.image, limit=100))

    def reassign(self, *replicas: int, index: int = 0) -> None:
        record = move(self.image, self.image.topics[TOPIC], index, tuple(map(NodeId, replicas)))
        self.append([record] if record is not None else [])

    # The brokers.

    def boot(self, id: int) -> Node:
        """Start a process that is registered with its own epoch."""
        self.network.host_came_back(f"n{id}")
        epoch = self.image.brokers[NodeId(id)].epoch
        node = self.nodes[id] = Node(self, NodeId(id), epoch, self.settings)
        node.loop.create_task(node.live(), name=f"live {id}")
        self.run_until(lambda: node.is_following)
        node.hear()
        return node

    def kill(self, id: int, *, loses_power: bool = False) -> None:
        node = self.nodes.pop(id)
        node.loop.kill()
        self.network.process_died(node.loop)
        disk = self.disks[NodeId(id)]
        (disk.power_loss if loses_power else disk.crash)()

    def restart(self, id: int) -> Node:
        self.register(id, is_fenced=self.image.brokers[NodeId(id)].is_fenced)
        node = self.boot(id)
        if self.image.brokers[NodeId(id)].is_fenced:
            self.unfence(id)
        return node

    # Time.

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the client do something, and everybody else live meanwhile."""
        task = self.client_loop.create_task(work)
        self.run_until(task.done)
        return task.result()

    def run_until(self, condition: Callable[[], bool], *, seconds_max: float = SECONDS_MAX) -> None:
        end = self.world.now + seconds_max
        while not condition():
            assert self.world.now < end, "it did not happen in time"
            self.pass_time(0.002)

    def pass_time(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        assert not self.world.accidents, self.world.accidents

    def settle(self) -> None:
        """Everybody has done what the metadata says."""
        self.run_until(lambda: all(node.is_settled for node in self.nodes.values()))

    def close(self) -> None:
        self.world.sweep()
        self.world.close()
        assert not self.world.accidents, self.world.accidents

    # The client.

    async def produce(
        self,
        id: int,
        *values: bytes,
        acks: int = -1,
        timeout_ms: int = 3_000,
        index: int = 0,
        version: int = 11,
        producer_id: int = -1,
        sequence: int = 0,
    ) -> PartitionProduceResponse:
        """A producer with an id sends everything as its first batch, unless it says otherwise."""
        batch = build_batch(
            [NewRecord(value=value, timestamp=-1) for value in values],
            producer_id=producer_id,
            producer_epoch=min(producer_id, 0),
            base_sequence=-1 if producer_id < 0 else sequence,
        )
        response = await self.produce_batch(
            id, batch, acks=acks, timeout_ms=timeout_ms, index=index, version=version
        )
        return cast(PartitionProduceResponse, response.responses[0].partition_responses[0])

    async def produce_batch(
        self, id: int, batch: bytearray, *, acks: int, timeout_ms: int, index: int, version: int
    ) -> Any:
        request = ProduceRequest(
            acks=acks,
            timeout_ms=timeout_ms,
            topic_data=(
                TopicProduceData(
                    name=TOPIC,
                    partition_data=(PartitionProduceData(index=index, records=memoryview(batch)),),
                ),
            ),
        )
        return await self.client.ask(NodeId(id), request, version, seconds_max=SECONDS_MAX)

    async def fetch(
        self,
        id: int,
        offset: int = 0,
        *,
        index: int = 0,
        max_wait_ms: int = 0,
        rack: str = "",
        version: int = 12,
        epoch: int = -1,
    ) -> PartitionData:
        response = await self.fetch_all(
            id, offset, index=index, max_wait_ms=max_wait_ms, rack=rack, version=version, epoch=epoch
        )
        return cast(PartitionData, response.responses[0].partitions[0])

    async def fetch_all(
        self, id: int, offset: int, *, index: int, max_wait_ms: int, rack: str, version: int, epoch: int
    ) -> Any:
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            rack_id=rack,
            topics=(
                FetchTopic(
                    topic=TOPIC,
                    topic_id=TOPIC_ID,
                    partitions=(
                        FetchPartition(
                            partition=index,
                            fetch_offset=offset,
                            partition_max_bytes=1 << 20,
                            current_leader_epoch=epoch,
                        ),
                    ),
                ),
            ),
        )
        return await self.client.ask(NodeId(id), request, version, seconds_max=SECONDS_MAX)

    async def latest_offset(self, id: int, *, version: int = 5) -> ListOffsetsPartitionResponse:
        request = ListOffsetsRequest(
            topics=(
                ListOffsetsTopic(
                    name=TOPIC,
                    partitions=(ListOffsetsPartition(partition_index=0, timestamp=LATEST_TIMESTAMP),),
                ),
            )
        )
        response = await self.client.ask(NodeId(id), request, version, seconds_max=SECONDS_MAX)
        return cast(ListOffsetsPartitionResponse, response.topics[0].partitions[0])


def values_in(data: PartitionData) -> list[bytes]:
    """The records of an answer."""
    assert data.records is not None
    content = bytes(cast(memoryview, data.records))
    return [
        record.value or b""
        for position, header in split_batches(content)
        for record in decode_records(content, header, position)
    ]


def no_error(response: PartitionProduceResponse) -> int:
    """The offset that a batch got."""
    assert ErrorCode(response.error_code) is ErrorCode.NONE
    return response.base_offset


def check_leads(node: Node) -> bool:
    """Whether a broker takes itself for the leader."""
    try:
        return node.partition().is_leader
    except ApiError:
        return False
