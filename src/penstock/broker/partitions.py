"""Opens, creates and deletes partitions so that what is on disk follows the cluster image."""

import asyncio
import logging
from collections.abc import Collection, Iterable
from typing import NamedTuple

from penstock.broker.cleaner import Cleaner
from penstock.broker.clock import Clock
from penstock.broker.flusher import Flusher
from penstock.broker.partition import Partition
from penstock.broker.replicas import Replicas
from penstock.broker.topic_settings import log_config, produce_rules
from penstock.broker.workers import BlockingWorkers
from penstock.config.broker_config import BrokerConfig
from penstock.metadata.effective_config import topic_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.errors import DiskFullError, StorageError
from penstock.model.ids import NodeId, Offset, TopicPartition
from penstock.records.validation import ProduceRules
from penstock.replication.leader import PartitionLeader
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import LogDirectory
from penstock.storage.log_loading import LoadJob, LogLoad, LogSpec
from penstock.storage.tail_cache import TailCache

logger = logging.getLogger(__name__)


class TopicSettings(NamedTuple):
    """A topic's settings in the forms their users want."""

    log: LogConfig
    rules: ProduceRules
    min_insync_replicas: int


class Partitions:
    """Keeps the replicas of one data directory in step with an image."""

    def __init__(
        self,
        *,
        node_id: NodeId,
        directory: LogDirectory,
        replicas: Replicas,
        flusher: Flusher,
        workers: BlockingWorkers,
        tail_cache: TailCache,
        clock: Clock,
        cleaner: Cleaner,
    ) -> None:
        self._node_id = node_id
        self._directory = directory
        self._replicas = replicas
        self._flusher = flusher
        self._workers = workers
        self._tail_cache = tail_cache
        self._clock = clock
        self._cleaner = cleaner
        #: Whether a full disk kept some partition from being made; tried again with the next ``follow``.
        self.is_incomplete = False

    async def load(self, image: ClusterImage, config: BrokerConfig) -> None:
        """Open everything that the image says is here, at start."""
        specs = self._specs(image, config, image.topics.values())
        load = self._directory.begin_load(specs, tail_cache=self._tail_cache, now=self._clock.wall_ms())
        await self._run(load, image, config)
        for made in load.made:
            logger.warning(
                "directory of a known partition was missing, made empty", extra={"directory": made}
            )

    async def follow(self, before: ClusterImage, image: ClusterImage, config: BrokerConfig) -> None:
        """Make the disk agree with a new image."""
        gone = [
            topic for topic_id, topic in before.topics_by_id.items() if topic_id not in image.topics_by_id
        ]
        await self._delete(gone)
        changed = [
            topic
            for topic in image.topics.values()
            if self.is_incomplete or topic is not before.topics.get(topic.name)
        ]
        self.is_incomplete = False
        await self._create(changed, image, config)

    def configure(
        self, image: ClusterImage, config: BrokerConfig, changed: Collection[ConfigResource]
    ) -> None:
        """Settings have changed: give every partition concerned those that hold for it now."""
        names = [resource.name for resource in changed if resource.type is ResourceType.TOPIC]
        if len(names) < len(changed):
            names = list(image.topics)  # the broker's settings are every topic's defaults
        for name in names:
            settings = _settings(image, config, name)
            for partition in self._replicas.of_topic(name):
                partition.configure(*settings)

    async def _create(self, topics: Iterable[TopicImage], image: ClusterImage, config: BrokerConfig) -> None:
        specs = self._specs(image, config, topics)
        if specs:
            now = self._clock.wall_ms()
            load = self._directory.begin_create(specs, tail_cache=self._tail_cache, now=now)
            try:
                await self._run(load, image, config)
            except DiskFullError as error:
                for spec in specs:
                    self._note_unavailable(spec.partition, error)

    async def _delete(self, topics: list[TopicImage]) -> None:
        gone = [partition for topic in topics for partition in self._replicas.remove_topic(topic.name)]
        if not gone:
            return
        await self._cleaner.release(gone)
        await self._flusher.release(gone)
        names = [TopicPartition(partition.topic, partition.index) for partition in gone]
        job = self._directory.begin_delete(names, self._clock.wall_ms())
        await self._workers.call(job.run)
        self._directory.finish_delete(job)

    def _specs(
        self, image: ClusterImage, config: BrokerConfig, topics: Iterable[TopicImage]
    ) -> list[LogSpec]:
        """The logs of these topics that belong here and are not open yet."""
        specs = []
        for topic in topics:
            log = _settings(image, config, topic.name).log
            for index, partition in enumerate(topic.partitions):
                name = TopicPartition(topic.name, index)
                if self._node_id in partition.replicas and name not in self._directory.logs:
                    specs.append(LogSpec(partition=name, topic_id=topic.topic_id, config=log))
        return specs

    async def _run(self, load: LogLoad, image: ClusterImage, config: BrokerConfig) -> None:
        await self._workers.call(load.prepare)
        for stray in load.strays:
            logger.warning("directory belongs to no topic, moved aside", extra={"directory": stray})
        await asyncio.gather(*(self._open(job) for job in load.jobs))
        self._directory.finish_load(load)
        names = {job.spec.partition.topic for job in load.jobs}
        settings = {name: _settings(image, config, name) for name in names}
        for job in load.jobs:
            if job.log is not None:
                self._add(job.spec, job.log, image, settings[job.spec.partition.topic])

    async def _open(self, job: LoadJob) -> None:
        """Open one log; one that cannot be opened must not keep the others from being served."""
        try:
            await self._workers.call(job.run)
        except StorageError as error:
            self._note_unavailable(job.spec.partition, error)

    def _note_unavailable(self, partition: TopicPartition, error: StorageError) -> None:
        self.is_incomplete |= isinstance(error, DiskFullError)
        self._replicas.unavailable[partition] = str(error)
        logger.error("partition cannot be opened", extra={"partition": str(partition), "reason": str(error)})

    def _add(self, spec: LogSpec, log: Log, image: ClusterImage, settings: TopicSettings) -> None:
        name, index = spec.partition
        _report_recovery(log)
        self._replicas.add(
            Partition(
                topic=name,
                topic_id=spec.topic_id,
                index=index,
                log=log,
                leader=self._leader(image.topics[name].partitions[index], log, settings.min_insync_replicas),
                rules=settings.rules,
                flusher=self._flusher,
                on_flushed=self._directory.record_flushed,
            )
        )

    def _leader(self, partition: PartitionImage, log: Log, min_insync_replicas: int) -> PartitionLeader:
        # Alone in the in-sync set, what is on our disk is what is committed.
        return PartitionLeader(
            node_id=self._node_id,
            leader_epoch=partition.leader_epoch,
            replicas=partition.replicas,
            isr=partition.isr,
            min_insync_replicas=min_insync_replicas,
            high_watermark=Offset(log.flushed_offset),
        )


def _settings(image: ClusterImage, config: BrokerConfig, topic: str) -> TopicSettings:
    settings = topic_config_in(image, topic, config)
    return TopicSettings(
        log_config(settings, config), produce_rules(settings), settings.integer("min.insync.replicas")
    )


def _report_recovery(log: Log) -> None:
    damage = log.recovery_report.damage
    if damage is not None:
        logger.error(
            "log is damaged: it is readable up to there and takes no more",
            extra={
                "partition": str(log.topic_partition),
                "file": damage.path,
                "offset": damage.offset,
                "reason": damage.reason,
            },
        )
