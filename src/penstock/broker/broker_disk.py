"""A broker's care for its disk: what is written down now and then, and what happens when there is no room."""

import asyncio
import logging
from collections.abc import Callable
from functools import cached_property

from penstock.broker.clock import Clock
from penstock.broker.control.following import ImageFollower
from penstock.broker.control.membership import Membership
from penstock.broker.flusher import Flusher
from penstock.broker.log_upkeep import LogUpkeep
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.quorum.quorum import Quorum
from penstock.broker.replicas import Replicas
from penstock.broker.tasks import Tasks
from penstock.broker.workers import BlockingWorkers
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError, FlushFailedError, StorageError
from penstock.model.ids import Offset, TopicPartition
from penstock.storage.log_directory import LogDirectory

logger = logging.getLogger(__name__)

UNREADABLE_SECONDS = 60.0
"""How often it is told that the same partition cannot be read."""


class BrokerDisk:
    """The part of a broker that looks after its data directory."""

    loop: asyncio.AbstractEventLoop
    clock: Clock
    tasks: Tasks
    workers: BlockingWorkers
    flusher: Flusher
    fail: Callable[[Exception], None]
    log_directory: LogDirectory
    quorum: Quorum
    follower: ImageFollower
    partitions: Partitions
    replicas: Replicas
    membership: Membership

    @cached_property
    def upkeep(self) -> LogUpkeep:
        """What looks after single logs."""
        return LogUpkeep(self)

    def check_writable(self) -> None:
        """Raise KAFKA_STORAGE_ERROR while the disk has too little room."""
        if self.log_directory.room.is_low:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                "The broker's disk is almost full. Free space, or lower disk.reserve.bytes.",
            )

    async def checkpoint(self) -> None:
        """Write down how far every log is."""
        job = self.log_directory.begin_checkpoint(self.clock.wall_ms(), self.high_watermarks())
        await self.workers.call(job.run)

    async def checkpoint_derived_files(self) -> None:
        """Write the index entries and leader epochs that are only in memory yet."""
        for log in list(self.log_directory.logs.values()):
            await self.upkeep.write_derived_files(log)

    def disk_is_full(self) -> None:
        """A write found no room: refuse producers from now on, and let metadata have the reserve."""
        self.log_directory.room.is_low = True
        self.tasks.start(self._use_reserve(), name="use the disk reserve")

    async def _use_reserve(self) -> None:
        is_released = await self.workers.call(self.log_directory.room.release_reserve)
        logger.error("disk is full, produce requests are refused", extra={"reserve_given_up": is_released})
        try:
            await self.quorum.write_again()
        except FlushFailedError as error:
            self.fail(error)

    async def recover_from_full_disk(self) -> None:
        """There is room: logs that had to give up a write may go on."""
        waiting = [log for log in self.log_directory.logs.values() if log.needs_rewind]
        for log in waiting:
            if log is not self.quorum.log:
                await self.upkeep.rewind(log)
        await self.quorum.write_again()
        if self.partitions.is_incomplete:
            await self.follower.follow_again()

    def report_corruption(self, partition: Partition, error: CorruptLogError) -> None:
        """Damaged data was asked for: say so; whoever asked is answered with an error."""
        logger.error("damaged data on disk", extra={"partition": str(partition), "reason": str(error)})

    def report_unreadable(self, partition: Partition, error: StorageError) -> None:
        """The disk does not hand over what was asked for: say so now and then, however often it is asked.

        Nothing is held against the data: it may be fine, and only the files too many that are open.
        """
        now = self.clock.monotonic()
        if now - partition.unreadable_told_at >= UNREADABLE_SECONDS:
            partition.unreadable_told_at = now
            logger.error("cannot read from disk", extra={"partition": str(partition), "reason": str(error)})

    def high_watermarks(self) -> dict[TopicPartition, Offset]:
        """Up to where every partition is committed."""
        return {
            TopicPartition(partition.topic, partition.index): Offset(partition.high_watermark)
            for partition in self.replicas
        }

    def close_directory(self) -> None:
        """Write down, in good order, how far everything is: the last thing a broker does. Blocks."""
        self.log_directory.close(
            self.clock.wall_ms(),
            high_watermarks=self.high_watermarks(),
            broker_epoch=self.membership.epoch,
        )
