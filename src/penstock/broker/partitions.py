"""Opens, creates and deletes partitions so that what is on disk follows the cluster image, and tells every
partition its role.

Roles of partitions that are open change before anything is awaited: who leads no more must not go on for as
long as some other topic's files are being made.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.broker.cleaner import Cleaner
from penstock.broker.clock import Clock
from penstock.broker.flusher import Flusher
from penstock.broker.log_upkeep import LogUpkeep
from penstock.broker.partition import Partition
from penstock.broker.partition_role import PartitionSurroundings, role_news
from penstock.broker.replicas import Replicas
from penstock.broker.replication.replication import Replication
from penstock.broker.topic_settings import log_config, produce_rules
from penstock.broker.workers import BlockingWorkers
from penstock.config.broker_config import BrokerConfig
from penstock.metadata.effective_config import topic_config_in
from penstock.metadata.image import ClusterImage
from penstock.metadata.replication_rules import TopicRules, topic_rules
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.errors import DiskFullError, FlushFailedError, StorageError
from penstock.model.ids import NodeId, Offset, TopicId, TopicPartition
from penstock.records.validation import ProduceRules
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


class Partitions:
    """Keeps the replicas of one data directory in step with an image."""

    def __init__(  # noqa: PLR0913 - what a broker is made of, all by name.
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
        upkeep: LogUpkeep,
        replication: Replication,
    ) -> None:
        self._node_id = node_id
        self._directory = directory
        self._replicas = replicas
        self._flusher = flusher
        self._workers = workers
        self._tail_cache = tail_cache
        self._clock = clock
        self._cleaner = cleaner
        self._upkeep = upkeep
        self._replication = replication
        self._around = PartitionSurroundings(
            node_id=node_id, flusher=flusher, on_flushed=directory.record_flushed, orders=replication
        )
        self._broker_epochs: Mapping[NodeId, int] = {}
        #: Whether every partition has been told its role once.
        self._have_roles = False
        #: Replicas that may lack something they once had on disk, as ``load`` found them.
        self.lost: list[tuple[TopicId, int]] = []
        #: Partitions that could not be made, or opened for want of room; the next ``follow`` tries again.
        self._unmade: set[TopicPartition] = set()

    @property
    def is_incomplete(self) -> bool:
        """Whether there are partitions that could not be made, or opened for want of room."""
        return bool(self._unmade)

    async def load(self, image: ClusterImage, config: BrokerConfig) -> None:
        """Open everything that the image says is here, at start; ``take_roles`` is for later."""
        specs = self._specs(image, config, image.topics.values())
        load = self._directory.begin_load(specs, tail_cache=self._tail_cache, now=self._clock.wall_ms())
        self._replicas.image = image
        await self._run(load, image, config)
        self.lost = [
            (job.spec.topic_id, job.spec.partition.partition)
            for job in load.jobs
            if self._may_have_lost(job, image)
        ]
        for made in load.made:
            logger.warning(
                "directory of a known partition was missing, made empty", extra={"directory": made}
            )

    def take_roles(self, image: ClusterImage) -> None:
        """Tell every partition its role: from now on this broker takes part."""
        self._have_roles = True
        self._replicas.image = image
        self._broker_epochs = active_brokers(image)
        self._tell_roles(image, image.topics.values())

    async def follow(self, before: ClusterImage, image: ClusterImage, config: BrokerConfig) -> None:
        """Make roles and the disk agree with a new image."""
        gone = list(self._gone(before, image))
        changed = self._changed(before, image)
        self._replicas.image = image
        self._unmade.clear()
        for partition in gone:
            self._replicas.remove(partition)
        for topic_id, topic in before.topics_by_id.items():
            if topic_id not in image.topics_by_id:
                self._replicas.forget_unavailable(topic.name)
        if self._have_roles:
            self._follow_brokers(before, image)
            self._tell_roles(image, changed)
        else:
            self.take_roles(image)
        await self._delete(gone)
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
            except FlushFailedError:
                raise
            except StorageError as error:
                # The rest of what the image says must not wait for these.
                for spec in specs:
                    self._note_unavailable(spec.partition, error)
                    self._unmade.add(spec.partition)
            made = {spec.partition.topic for spec in specs}
            self._tell_roles(image, [topic for topic in image.topics.values() if topic.name in made])

    async def _delete(self, gone: list[Partition]) -> None:
        if not gone:
            return
        await self._replication.release(gone)
        await self._cleaner.release(gone)
        await self._flusher.release(gone)
        await self._upkeep.release(gone)  # last: it goes on with every log that is in the directory
        names = [TopicPartition(partition.topic, partition.index) for partition in gone]
        job = self._directory.begin_delete(names, self._clock.wall_ms())
        try:
            await self._workers.call(job.run)
        except FlushFailedError:
            raise
        except StorageError as error:
            # The rest of what the image says must not wait. The next start moves aside what keeps its name.
            facts = {"partitions": [str(name) for name in names], "reason": str(error)}
            logger.error("directories of deleted partitions are still in sight", extra=facts)
        self._directory.finish_delete(job)

    def _gone(self, before: ClusterImage, image: ClusterImage) -> Iterator[Partition]:
        """Partitions that are here and should not be, of topics that are gone or have moved."""
        for topic_id, topic in before.topics_by_id.items():
            now = image.topics_by_id.get(topic_id)
            if now is not topic:
                for partition in self._replicas.of_topic(topic.name):
                    if partition.topic_id == topic_id and not self._belongs_here(partition, now):
                        yield partition

    def _belongs_here(self, partition: Partition, topic: TopicImage | None) -> bool:
        return topic is not None and self._node_id in topic.partitions[partition.index].replicas

    def _changed(self, before: ClusterImage, image: ClusterImage) -> list[TopicImage]:
        """Topics of which there is something new to say."""
        resources = image.resources_changed_since(before)
        names = {each.name for each in resources if each.type is ResourceType.TOPIC}
        is_all = not self._have_roles or len(names) < len(resources)
        names.update(partition.topic for partition in self._unmade)
        return [
            topic
            for topic in image.topics.values()
            if is_all or topic is not before.topics.get(topic.name) or topic.name in names
        ]

    def _follow_brokers(self, before: ClusterImage, image: ClusterImage) -> None:
        if image.brokers is before.brokers:
            return
        epochs = active_brokers(image)
        if epochs != self._broker_epochs:
            self._broker_epochs = epochs
            for partition in self._replicas:
                partition.brokers_changed(epochs)

    def _tell_roles(self, image: ClusterImage, topics: Iterable[TopicImage]) -> None:
        for topic in topics:
            rules = topic_rules(image, topic.name)
            for partition in self._replicas.of_topic(topic.name):
                if partition.topic_id == topic.topic_id:
                    self._tell_role(partition, topic.partitions[partition.index], rules)

    def _tell_role(self, partition: Partition, told: PartitionImage, rules: TopicRules) -> None:
        """Unless it has heard just that: most partitions of a topic that changed have not."""
        if partition.told != (told, rules):
            partition.told = told, rules
            partition.take_role(role_news(told, rules, self._broker_epochs))
            if logger.isEnabledFor(logging.DEBUG):
                facts = {"leader": told.leader, "leader_epoch": told.leader_epoch, "isr": list(told.isr)}
                logger.debug("role was taken", extra={"partition": str(partition), **facts})

    def _may_have_lost(self, job: LoadJob, image: ClusterImage) -> bool:
        """Whether the replica may lack something that others count on it to have.

        A directory that was not there is no sign of it: perhaps the last process died before it made that of
        a new partition. If it has ever held something, the log knows, and calls itself damaged.
        """
        if job.log is None:
            return job.spec.partition not in self._unmade
        if job.log.is_offline:
            return True
        return not self._directory.was_clean and topic_rules(image, job.spec.partition.topic).accepts_loss

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
                self._add(job.spec, job.log, settings[job.spec.partition.topic])

    async def _open(self, job: LoadJob) -> None:
        """Open one log; one that cannot be opened must not keep the others from being served.

        A flush that fails is no fault of this log's: the process must end, and the next one look again.
        """
        try:
            await self._workers.call(job.run)
        except FlushFailedError:
            raise
        except StorageError as error:
            self._note_unavailable(job.spec.partition, error)

    def _note_unavailable(self, partition: TopicPartition, error: StorageError) -> None:
        if isinstance(error, DiskFullError):
            self._unmade.add(partition)
        if self._replicas.unavailable.get(partition) != str(error):
            self._replicas.unavailable[partition] = str(error)
            facts = {"partition": str(partition), "reason": str(error)}
            logger.error("partition cannot be opened", extra=facts)

    def _add(self, spec: LogSpec, log: Log, settings: TopicSettings) -> None:
        name, index = spec.partition
        _report_recovery(log)
        # It may lag, and what lies below the log's start is no more in question.
        remembered = self._directory.high_watermark(spec.partition) or 0
        self._replicas.add(
            Partition(
                topic=name,
                topic_id=spec.topic_id,
                index=index,
                log=log,
                high_watermark=Offset(max(remembered, log.log_start_offset)),
                rules=settings.rules,
                around=self._around,
            )
        )


def active_brokers(image: ClusterImage) -> dict[NodeId, int]:
    """Brokers that may lead and be in sync, with the epochs of their processes."""
    return {broker.node_id: broker.epoch for broker in image.brokers.values() if broker.is_active}


def _settings(image: ClusterImage, config: BrokerConfig, topic: str) -> TopicSettings:
    settings = topic_config_in(image, topic, config)
    return TopicSettings(log_config(settings, config), produce_rules(settings))


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
