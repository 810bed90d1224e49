"""The broker: what it is made of, and the order in which it starts and stops.

Start: take the data directory; replay the metadata log into the image; open every partition that the image
says is here; bind the address; write the registration; let clients in. Nothing listens before everything
that was acknowledged can be served.

Stop: let nobody new in; let what is under way be answered; flush; close logs; checkpoint; write the clean
marker, last of all.
"""

import asyncio
import logging
import socket
from collections.abc import Callable

from penstock.broker.cleaner import Cleaner
from penstock.broker.clock import Clock
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
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.producer_ids import ProducerIds
from penstock.broker.quorum import Quorum
from penstock.broker.replicas import Replicas
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.broker.transaction_coordinator import TransactionCoordinator
from penstock.broker.transactional_appends import TransactionalAppends
from penstock.broker.worker_threads import WorkerThreads
from penstock.broker.workers import BlockingWorkers
from penstock.config.broker_config import BrokerConfig
from penstock.metadata.effective_config import broker_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.producer_ids import allocate_producer_ids
from penstock.metadata.records import BrokerEndpoint
from penstock.metadata.registration import register_broker
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError, FlushFailedError, StorageError
from penstock.model.ids import NodeId, Offset, TopicId, TopicPartition
from penstock.model.names import METADATA_TOPIC
from penstock.storage.filesystem import FileSystem
from penstock.storage.kernel_flush import KernelFlush
from penstock.storage.log import DeletionJob, Log
from penstock.storage.log_config import UNLIMITED, LogConfig
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.log_loading import LogSpec
from penstock.storage.tail_cache import TailCache

logger = logging.getLogger(__name__)

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
METADATA_TOPIC_ID = TopicId(bytes(15) + b"\x01")
METADATA_LOG = LogConfig(retention_ms=UNLIMITED, retention_bytes=UNLIMITED)

STOP_GRACE_SECONDS = 5.0
SHARDS_LOADING_MAX = 1
"""Reading is quick and decoding needs the interpreter: two at once would only keep each other waiting."""
WILDCARD_HOSTS = ("", "0.0.0.0", "::")


class Broker:
    """One node: a data directory, a listener, and everything between them."""

    log_directory: LogDirectory
    quorum: Quorum
    partitions: Partitions

    def __init__(  # noqa: PLR0913 - the seams of a process, all by name.
        self,
        config: BrokerConfig,
        *,
        data_directory: str,
        loop: asyncio.AbstractEventLoop,
        filesystem: FileSystem,
        clock: Clock,
        entropy: Entropy,
        on_fatal: Callable[[StorageError], None],
        workers: BlockingWorkers | None = None,
        descriptors: DescriptorFlusher | None = None,
    ) -> None:
        self.loop = loop
        self.clock = clock
        self.entropy = entropy
        self.node_id = NodeId(config.integer("node.id"))
        self.config = config
        self._started_with = config
        self._filesystem = filesystem
        self._data_directory = data_directory
        self.fail = on_fatal
        self.tasks = Tasks(loop)
        self.deadlines = Deadlines(loop)
        self.workers: BlockingWorkers = WorkerThreads(loop) if workers is None else workers
        self._kernel_flusher = self._open_kernel_flusher()
        self.flusher = Flusher(
            self.workers,
            self._kernel_flusher if descriptors is None else descriptors,
            loop.call_soon,
            on_full=self._disk_is_full,
            on_fatal=on_fatal,
        )
        self.tail_cache = TailCache(config.integer("tail.cache.bytes"))
        self.replicas = Replicas()
        self.cleaner = Cleaner(self)
        self.fetch_sessions = FetchSessions(
            config.integer("max.incremental.fetch.session.cache.slots"),
            lambda: int.from_bytes(entropy.uuid()[:4], "big") >> 1,
        )
        self.producer_ids = ProducerIds(self._allocate_producer_ids, self.tasks)
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
        self.server = Server(config, Dispatch(self), clock)
        self.address = ""
        self._broker_epoch = -1
        self._is_loaded = False

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

    async def start(self) -> None:
        """Open everything, then let clients in."""
        self.log_directory = await self.workers.call(self._open_directory)
        self.quorum = await self._open_quorum()
        self.config = broker_config_in(self.image, self._started_with)
        self.partitions = Partitions(
            node_id=self.node_id,
            directory=self.log_directory,
            replicas=self.replicas,
            flusher=self.flusher,
            workers=self.workers,
            tail_cache=self.tail_cache,
            clock=self.clock,
            cleaner=self.cleaner,
        )
        await self._register()
        await self.partitions.load(self.image, self.config)
        self._is_loaded = True
        for coordinator in self.coordinators:
            coordinator.follow(self.image, self.image)
        await self.server.accept()
        self.tasks.start(self.server.watch(), name="watch connections")
        self.tasks.start(Housekeeping(self).run(), name="housekeeping")
        self.tasks.start(self.cleaner.run(), name="compact logs")
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
        for coordinator in self.coordinators:
            coordinator.stop()
        await self.cleaner.stop()
        await self.server.stop(STOP_GRACE_SECONDS)
        await self.tasks.stop()
        await self.flusher.drain()
        # Nothing else touches the logs any more, so each may be closed on whichever thread is free.
        logs = list(self.log_directory.logs.values())
        await asyncio.gather(*(self.workers.call(log.close) for log in logs))
        await self.workers.call(self._close_directory)
        self.workers.stop()
        if self._kernel_flusher is not None:
            self._kernel_flusher.close()
        logger.info("stopped")

    def check_writable(self) -> None:
        """Raise KAFKA_STORAGE_ERROR while the disk has too little room."""
        if self.log_directory.room.is_low:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                "The broker's disk is almost full. Free space, or lower disk.reserve.bytes.",
            )

    async def checkpoint(self) -> None:
        """Write down how far every log is."""
        job = self.log_directory.begin_checkpoint(self.clock.wall_ms(), self._high_watermarks())
        await self.workers.call(job.run)

    async def checkpoint_derived_files(self) -> None:
        """Write the index entries and leader epochs that are only in memory yet."""
        for log in list(self.log_directory.logs.values()):
            job = log.begin_checkpoint()
            if job is None:
                continue
            try:
                await self.workers.call(job.run)
            except StorageError as error:
                log.fail_checkpoint(job)
                if isinstance(error, FlushFailedError) or not self._is_deleted(log):
                    raise
            else:
                log.finish_checkpoint(job)

    def _is_deleted(self, log: Log) -> bool:
        """Whether a log's files may be gone because its topic is."""
        return log is not self.quorum.log and log.topic_partition.topic not in self.image.topics

    async def expire(self, partition: Partition) -> None:
        """Roll and expire one partition's segments."""
        now = self.clock.wall_ms()
        if partition.log.roll_if_due(now):
            self.flusher.mark_dirty(partition)
        job = partition.log.expire(now, partition.high_watermark)
        if job is None:
            return
        await self.checkpoint()  # the log's beginning is on disk before files go
        await self.workers.call(job.run)
        self.loop.call_later(job.delay_ms / 1000, self._remove_segments, job)
        logger.info(
            "segments expired",
            extra={"partition": str(partition), "log_start_offset": partition.log.log_start_offset},
        )

    def _remove_segments(self, job: DeletionJob) -> None:
        self.tasks.start(self.workers.call(job.remove), name="remove expired segments")

    def _disk_is_full(self) -> None:
        """A write found no room: refuse producers from now on, and let metadata have the reserve."""
        self.log_directory.room.is_low = True
        self.tasks.start(self._use_reserve(), name="use the disk reserve")

    async def _use_reserve(self) -> None:
        is_released = await self.workers.call(self.log_directory.room.release_reserve)
        logger.error("disk is full, produce requests are refused", extra={"reserve_given_up": is_released})
        try:
            await self._rewind(self.quorum.log)
        except FlushFailedError as error:
            self.fail(error)

    async def recover_from_full_disk(self) -> None:
        """There is room: logs that had to give up a write may go on."""
        for log in list(self.log_directory.logs.values()):
            await self._rewind(log)
        if self.partitions.is_incomplete:
            await self.quorum.follow_again()

    async def _rewind(self, log: Log) -> None:
        job = log.begin_rewind()
        if job is not None:
            await self.workers.call(job.run)
            log.finish_rewind(job)
            logger.info("log takes appends again", extra={"partition": str(log.topic_partition)})

    def report_corruption(self, partition: Partition, error: CorruptLogError) -> None:
        """Damaged data was asked for: say so; whoever asked is answered with an error."""
        logger.error("damaged data on disk", extra={"partition": str(partition), "reason": str(error)})

    def _open_kernel_flusher(self) -> KernelFlusher | None:
        """The kernel's own flush where it has one and nobody forbids it."""
        queue = KernelFlush.open() if self._started_with.boolean("kernel.flush.enable") else None
        return None if queue is None else KernelFlusher(self.loop, queue)

    def _open_directory(self) -> LogDirectory:
        config = self._started_with
        options = DirectoryOptions(
            node_id=self.node_id,
            new_uuid=self.entropy.uuid,
            soft_limit_bytes_max=config.integer("disk.reserve.bytes"),
            checkpoint_interval_ms=config.integer("log.flush.offset.checkpoint.interval.ms"),
        )
        path = self._data_directory
        directory = LogDirectory.open(self._filesystem, path, options, now=self.clock.wall_ms())
        if not directory.is_private:
            logger.warning("others may read the data directory", extra={"directory": path})
        return directory

    async def _open_quorum(self) -> Quorum:
        spec = LogSpec(partition=METADATA_PARTITION, topic_id=METADATA_TOPIC_ID, config=METADATA_LOG)
        load = self.log_directory.begin_create([spec], tail_cache=self.tail_cache, now=self.clock.wall_ms())
        await self.workers.call(load.run)
        (log,) = self.log_directory.finish_load(load)
        _check_metadata_log(log)
        quorum = Quorum(log, self.flusher, self.clock, self._follow, self.log_directory.record_flushed)
        await self.workers.call(quorum.replay)
        return quorum

    async def _register(self) -> None:
        """Take the address, and make it known; clients are let in later."""
        (listener,) = self._started_with.listeners
        port = await self.server.bind(listener.host, listener.port)
        self.address = f"{listener.host or '0.0.0.0'}:{port}"
        host, advertised_port = self._advertised(listener.host, port)
        endpoint = BrokerEndpoint(name=listener.name, host=host, port=advertised_port, security_protocol=0)
        incarnation = self.entropy.uuid()
        self._broker_epoch = await self.quorum.submit(
            lambda image: register_broker(
                image,
                node_id=self.node_id,
                incarnation_id=incarnation,
                endpoints=(endpoint,),
                rack=self.config.string("broker.rack") or None,
                directory_id=self.log_directory.meta.directory_id,
                has_kept_everything=self.log_directory.was_clean,
            )
        )

    def _advertised(self, host: str, port: int) -> tuple[str, int]:
        for listener in self._started_with.advertised_listeners:
            return listener.host, listener.port
        return (socket.gethostname() if host in WILDCARD_HOSTS else host), port

    async def _follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """The image has changed: bring settings and partitions in line with it."""
        if not self._is_loaded:
            return
        self.config = broker_config_in(image, self._started_with)
        try:
            await self.partitions.follow(before, image, self.config)
        except FlushFailedError as error:
            self.fail(error)  # the directory of a new partition may be gone after the next outage
            raise
        self.partitions.configure(image, self.config, image.resources_changed_since(before))
        for coordinator in self.coordinators:
            coordinator.follow(before, image)

    async def _allocate_producer_ids(self) -> range:
        return await self.quorum.submit(
            lambda image: allocate_producer_ids(
                image, broker_id=self.node_id, broker_epoch=self._broker_epoch
            )
        )

    def _high_watermarks(self) -> dict[TopicPartition, Offset]:
        return {
            TopicPartition(partition.topic, partition.index): Offset(partition.high_watermark)
            for partition in self.replicas
        }

    def _close_directory(self) -> None:
        self.log_directory.close(
            self.clock.wall_ms(), high_watermarks=self._high_watermarks(), broker_epoch=self._broker_epoch
        )


def _check_metadata_log(log: Log) -> None:
    """The metadata log is authoritative: a damaged one is no basis to serve anything."""
    if log.is_offline:
        raise StorageError(
            f"The metadata log is damaged ({log.refusal}). Topics cannot be known without it: restore "
            f"{log.directory} from a backup. Nothing has been changed."
        )
