"""The broker: what it is made of, and the order in which it starts and stops.

Start: take the address; take the data directory, joining a cluster first if it is new and told to; take part
in the quorum until the image is as new as the leader's; open every partition that the image says is here;
register; do what the cluster says from there on until it lets this broker in; let clients in. Other brokers
are served from the moment there is a quorum to ask, since they may need this one to get so far themselves.
Nobody else is served before everything that was acknowledged can be.

Stop: have others lead what this broker leads; let nobody new in; let what is under way be answered; flush;
close logs; checkpoint; write the clean marker, last of all.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial

from penstock.broker.broker_disk import BrokerDisk
from penstock.broker.cleaner import Cleaner
from penstock.broker.clock import Clock
from penstock.broker.connection import Requests
from penstock.broker.control.channel import ControllerChannel
from penstock.broker.control.controller import Controller
from penstock.broker.control.following import ImageFollower
from penstock.broker.control.identity import Identity, find_identity
from penstock.broker.control.membership import Membership
from penstock.broker.control.quorum_options import quorum_options
from penstock.broker.control.transition_log import TransitionLog
from penstock.broker.coordination.coordinator import Coordinator
from penstock.broker.coordination.groups import group_coordinator
from penstock.broker.coordination.shard_host import HostSurroundings
from penstock.broker.coordination.steady_clock import SteadyClock
from penstock.broker.deadlines import Deadlines
from penstock.broker.dispatch import Dispatch
from penstock.broker.entropy import Entropy
from penstock.broker.fetch_sessions import FetchSessions
from penstock.broker.flush_round import DescriptorFlusher
from penstock.broker.flusher import Flusher
from penstock.broker.housekeeping import Housekeeping
from penstock.broker.kernel_flusher import KernelFlusher
from penstock.broker.metrics.meters import Meters
from penstock.broker.partitions import Partitions
from penstock.broker.peers.address import Address
from penstock.broker.peers.peers import CLIENT_ID, Peers
from penstock.broker.producer_ids import ProducerIds
from penstock.broker.quorum.opening import open_quorum
from penstock.broker.quorum.quorum import Quorum
from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.broker.replicas import Replicas
from penstock.broker.replication.replication import Replication
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.broker.telemetry.telemetry import Telemetry
from penstock.broker.transaction_coordinator import TransactionCoordinator
from penstock.broker.transactional_appends import TransactionalAppends
from penstock.broker.worker_threads import WorkerThreads
from penstock.broker.workers import BlockingWorkers
from penstock.config.broker_config import BrokerConfig
from penstock.metadata.effective_config import broker_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerEndpoint
from penstock.metadata.replication_rules import agreed_defaults, overruled_settings
from penstock.metadata.result import Result
from penstock.model.errors import ApiError, FlushFailedError, InvariantError, OperatingError
from penstock.model.ids import NodeId
from penstock.storage.broker_epoch import LastRegistration, read_last_registration, write_last_registration
from penstock.storage.filesystem import FileSystem
from penstock.storage.kernel_flush import KernelFlush
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.tail_cache import TailCache

logger = logging.getLogger(__name__)

STOP_GRACE_SECONDS = 5.0
CATCH_UP_SECONDS = 5.0
"""How often a broker that waits for the cluster's metadata says so."""

SHARDS_LOADING_MAX = 1
"""Reading is quick and decoding needs the interpreter: two at once would only keep each other waiting."""
WILDCARD_HOSTS = ("", "0.0.0.0", "::")
NO_CONTROLLER = NodeId(-1)


class Broker(BrokerDisk):
    """One node: a data directory, a listener, and everything between them."""

    def __init__(  # noqa: PLR0913 - the seams of a process, all by name.
        self,
        config: BrokerConfig,
        *,
        data_directory: str,
        loop: asyncio.AbstractEventLoop,
        filesystem: FileSystem,
        clock: Clock,
        entropy: Entropy,
        on_fatal: Callable[[Exception], None],
        workers: BlockingWorkers | None = None,
        descriptors: DescriptorFlusher | None = None,
        interceptor: Callable[[Requests], Requests] | None = None,  # for tests, and nobody else
    ) -> None:
        self.loop = loop
        self.clock = clock
        self.entropy = entropy
        self.config = config
        self._started_with = config
        self.filesystem = filesystem
        self.data_directory = data_directory
        self.fail = on_fatal
        self.tasks = Tasks(loop, on_bug=self._met_bug)
        self.deadlines = Deadlines(loop)
        self.workers = WorkerThreads(loop) if workers is None else workers
        self._kernel_flusher = self._open_kernel_flusher()
        self.meters = Meters(clock)
        self.flusher = Flusher(
            self.workers,
            self._kernel_flusher if descriptors is None else descriptors,
            loop.call_soon,
            on_full=self.disk_is_full,
            on_fatal=on_fatal,
            meter=self.meters.flushes,
        )
        self.tail_cache = TailCache(config.integer("tail.cache.bytes"))
        self.replicas = Replicas()
        self.cleaner = Cleaner(self)
        self.replication = Replication(self)
        self.fetch_sessions = FetchSessions(
            config.integer("max.incremental.fetch.session.cache.slots"),
            lambda: int.from_bytes(entropy.uuid()[:4], "big") >> 1,
        )
        self.peers = Peers(loop=loop, clock=clock, client_id=CLIENT_ID, address_of=self._address_of)
        self.control = ControllerChannel(self)
        self.controller = Controller(self)
        self.membership = Membership(self)
        self.transition_log = TransitionLog(self)
        self.membership.on_heard = self.replication.came_back
        self.membership.on_silence = self.replication.lost_touch
        self.follower = ImageFollower(self._newest, self._follow)
        self.producer_ids = ProducerIds(self.control.allocate_producer_ids, self.tasks)
        around = HostSurroundings(
            loop=loop,
            workers=self.workers,
            tasks=self.tasks,
            clock=SteadyClock(clock),
            loading=asyncio.Semaphore(SHARDS_LOADING_MAX),
        )
        self.groups = group_coordinator(self, around)
        self.transactions = TransactionCoordinator(self, around)
        self.transactional_appends = TransactionalAppends(self)
        self.telemetry = Telemetry(self)
        requests: Requests = Dispatch(self) if interceptor is None else interceptor(Dispatch(self))
        self.server = Server(config, requests, clock, self.tail_cache)
        self.address = ""
        #: Where clients and other brokers find this one.
        self.endpoints: tuple[BrokerEndpoint, ...] = ()
        #: As whom the last process here was registered, or this one is.
        self.last_registration = LastRegistration()
        #: Whether clients may be served.
        self.is_ready = False
        #: Called once the data directory is ours, and with it this broker's number.
        self.on_directory_taken: Callable[[], None] = lambda: None

    @property
    def node_id(self) -> NodeId:
        """This broker's number; final once it has its identity."""
        return NodeId(self._started_with.integer("node.id"))

    @property
    def broker_epoch(self) -> int:
        """Tells this process of the broker from those before it."""
        return self.membership.epoch

    @property
    def image(self) -> ClusterImage:
        """The cluster as this broker knows it."""
        return self.quorum.image

    @property
    def coordinators(self) -> tuple[Coordinator, ...]:
        """Those that keep their state in internal topics."""
        return (self.groups, self.transactions)

    @property
    def cluster_id(self) -> str:
        """The cluster this broker belongs to."""
        return self.log_directory.meta.cluster_id

    @property
    def controller_id(self) -> NodeId:
        """Who decides on metadata, for clients: somebody alive, or -1."""
        leader = self.quorum.leader_id
        broker = None if leader is None else self.image.brokers.get(leader)
        return NO_CONTROLLER if broker is None or broker.is_fenced else broker.node_id

    async def start(self) -> None:
        """Become a member of the cluster, open everything, then let clients in."""
        await self._bind()
        try:
            identity = await find_identity(self)
            await self._take_directory(identity)
        except OperatingError:
            await self.server.stop(0.0)
            raise
        self.quorum = await self._open_quorum(identity)
        await self.server.accept()
        self.tasks.start_duty(self.server.watch(), name="watch connections")
        self.controller.start()
        await self.quorum.start()
        await self._catch_up()
        await self._agree()
        image, offset = await self._load()
        await self.membership.register()
        # What the last process here led, this one does not: roles begin with the registration.
        self.follower.begin(image, offset)
        self.tasks.start_duty(self.follower.run(), name="follow the image")
        self.replication.start()
        await self.membership.enter()
        self.is_ready = True
        self.tasks.start_duty(self.membership.run(), name="send heartbeats")
        self.tasks.start_duty(Housekeeping(self).run(), name="housekeeping")
        self.tasks.start_duty(self.cleaner.run(), name="compact logs")
        logger.info(
            "started",
            extra={
                "address": self.address,
                "node": self.node_id,
                "cluster": self.cluster_id,
                "partitions": len(self.replicas),
                "last_stop_was_clean": self.log_directory.was_clean,
            },
        )

    async def stop(self) -> None:
        """Answer what is under way, make everything durable, and say so on disk."""
        await self.membership.leave()
        for coordinator in self.coordinators:
            coordinator.stop()
        await self.replication.stop()
        await self.cleaner.stop()
        await self.server.stop(STOP_GRACE_SECONDS)
        await self.quorum.stop()
        self.peers.close()
        await self.tasks.stop()
        await self.flusher.drain()
        # Nothing else touches the logs any more, so each may be closed on whichever thread is free.
        logs = list(self.log_directory.logs.values())
        await asyncio.gather(*(self.workers.call(log.close) for log in logs))
        await self.workers.call(self.close_directory)
        self.workers.stop()
        if self._kernel_flusher is not None:
            self._kernel_flusher.close()
        logger.info("stopped")

    def _met_bug(self, error: Exception) -> None:
        """What a duty did not expect is no failed flush, be it an error of the disk: it ends otherwise."""
        bug = InvariantError(f"A duty of the broker failed: {error!r}")
        bug.__cause__ = error
        self.fail(bug)

    def _open_kernel_flusher(self) -> KernelFlusher | None:
        """The kernel's own flush where it has one and nobody forbids it."""
        queue = KernelFlush.open() if self._started_with.boolean("kernel.flush.enable") else None
        return None if queue is None else KernelFlusher(self.loop, queue)

    async def _bind(self) -> None:
        """Take the address; clients are let in later."""
        (listener,) = self._started_with.listeners
        port = await self.server.bind(listener.host, listener.port)
        self.address = f"{listener.host or '0.0.0.0'}:{port}"
        host, advertised_port = self._advertised(listener.host, port)
        endpoint = BrokerEndpoint(name=listener.name, host=host, port=advertised_port, security_protocol=0)
        self.endpoints = (endpoint,)

    def _advertised(self, host: str, port: int) -> tuple[str, int]:
        for listener in self._started_with.advertised_listeners:
            return listener.host, listener.port
        return (socket.gethostname() if host in WILDCARD_HOSTS else host), port

    async def _take_directory(self, identity: Identity) -> None:
        """Make the data directory ours, and be who it says."""
        self._started_with = self.config = self._started_with.with_node_id(identity.node_id)
        self.log_directory = await self.workers.call(self._open_directory, identity)
        last = await self.workers.call(read_last_registration, self.filesystem, self.data_directory)
        self.last_registration = LastRegistration() if last is None else last
        self.on_directory_taken()

    def _open_directory(self, identity: Identity) -> LogDirectory:
        config = self._started_with
        options = DirectoryOptions(
            node_id=identity.node_id,
            cluster_id=identity.cluster_id,
            directory_id=identity.directory_id,
            new_uuid=self.entropy.uuid,
            soft_limit_bytes_max=config.integer("disk.reserve.bytes"),
            checkpoint_interval_ms=config.integer("log.flush.offset.checkpoint.interval.ms"),
        )
        path = self.data_directory
        directory = LogDirectory.open(self.filesystem, path, options, now=self.clock.wall_ms())
        if not directory.is_private:
            logger.warning("others may read the data directory", extra={"directory": path})
        return directory

    async def remember_registration(self, registration: LastRegistration) -> None:
        """Note, durably, as whom this broker is registered."""
        write = partial(write_last_registration, self.filesystem, self.data_directory, registration)
        await self.workers.call(self.log_directory.room.use_reserve, write)
        self.last_registration = registration

    async def _open_quorum(self, identity: Identity) -> Quorum:
        around = QuorumSurroundings(
            loop=self.loop,
            clock=self.clock,
            entropy=self.entropy,
            filesystem=self.filesystem,
            workers=self.workers,
            tasks=self.tasks,
            flusher=self.flusher,
            directory=self.log_directory,
            tail_cache=self.tail_cache,
            peers=self.peers,
            checkpoint=self.checkpoint,
            fail=self.fail,
        )
        options = quorum_options(self._started_with, identity, self.endpoints)
        quorum = await open_quorum(options, around)
        quorum.addresses.own = Address(self.endpoints[0].host, self.endpoints[0].port)
        quorum.on_change = self._image_changed
        quorum.on_leadership = self._leadership_changed
        quorum.on_silence = self.controller.suspect
        return quorum

    async def _catch_up(self) -> None:
        """Wait until the image is as new as that of whoever leads; a founder leads at once."""
        while not await self.quorum.wait_caught_up(seconds_max=CATCH_UP_SECONDS):
            logger.warning("waiting for the cluster's metadata", extra={"leader": self.quorum.leader_id})

    async def _agree(self) -> None:
        """Where all brokers must agree, the first one's own choice counts; others are told of theirs."""

        def choose(image: ClusterImage) -> Result[None]:
            records = () if image.brokers else tuple(agreed_defaults(image, self._started_with))
            return Result(records=records, response=None)

        if self.quorum.is_leader and not self.image.brokers:
            try:
                await self.quorum.submit(choose)
            except ApiError as error:
                raise OperatingError(f"The cluster cannot be begun: {error}") from error
        for name in overruled_settings(self.image, self._started_with):
            logger.warning("the cluster has agreed otherwise, so this has no effect", extra={"setting": name})

    async def _load(self) -> tuple[ClusterImage, int]:
        """Open everything that the newest image says is here; returns that image, and where it ends."""
        image, offset = self._newest()
        self.config = broker_config_in(image, self._started_with)
        self.partitions = Partitions(
            node_id=self.node_id,
            directory=self.log_directory,
            replicas=self.replicas,
            flusher=self.flusher,
            workers=self.workers,
            tail_cache=self.tail_cache,
            clock=self.clock,
            cleaner=self.cleaner,
            upkeep=self.upkeep,
            replication=self.replication,
        )
        await self.partitions.load(image, self.config)
        return image, offset

    def _newest(self) -> tuple[ClusterImage, int]:
        return self.quorum.image, self.quorum.applied_offset

    def _image_changed(self, before: ClusterImage, image: ClusterImage) -> None:
        self.transition_log.image_changed(before, image)
        self.membership.image_changed()
        self.follower.image_changed()

    def _leadership_changed(self) -> None:
        self.controller.leadership_changed()
        self.control.leadership_changed()
        self.membership.leadership_changed()

    async def _follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """The image has changed: bring settings and partitions in line with it."""
        self.config = broker_config_in(image, self._started_with)
        self.server.configure(self.config)
        try:
            await self.partitions.follow(before, image, self.config)
        except FlushFailedError as error:
            self.fail(error)  # the directory of a new partition may be gone after the next outage
            raise
        self.partitions.configure(image, self.config, image.resources_changed_since(before))
        self.replication.follow(image)
        for coordinator in self.coordinators:
            coordinator.follow(before, image)

    def _address_of(self, node_id: NodeId) -> Address | None:
        return self.quorum.addresses.address_of(node_id)
