"""What a broker does beside serving: watch the disk, seal, checkpoint, roll, expire, remove.

Each duty looks at its own clock; all of them run one after the other in one task, about once a second, so
that they never compete with each other for the disk. Their blocking parts run on worker threads.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.errors import FlushFailedError, StorageError

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0


class Housekeeping:
    """The standing duties of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._expired_at = broker.clock.monotonic()
        self._was_low = False
        #: Partitions seen with written but unflushed records, and when first.
        self._unflushed_since: dict[Partition, float] = {}
        #: Partitions that could not be expired when that was last tried; it was logged the first time.
        self._unexpired: dict[Partition, None] = {}
        self._duties: tuple[Callable[[], Awaitable[None]], ...] = (
            self._watch_disk,
            self._seal,
            self._flush_by_age,
            self._write_derived_files,
            self._checkpoint,
            self._expire,
            self._remove_deleted,
        )

    async def run(self) -> None:
        """Do all duties, again and again, for ever."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self.tick()

    async def tick(self) -> None:
        """Do all duties once."""
        for duty in self._duties:
            await self._attempt(duty)

    async def _attempt(self, duty: Callable[[], Awaitable[None]]) -> None:
        """A duty that fails is tried again with the next tick, unless the disk failed to flush."""
        try:
            await duty()
        except FlushFailedError as error:
            self._broker.fail(error)
        except StorageError as error:
            name = getattr(duty, "__name__", "duty")
            logger.error("housekeeping failed", extra={"duty": name.strip("_"), "reason": str(error)})

    async def _watch_disk(self) -> None:
        broker = self._broker
        usage = await broker.workers.call(broker.log_directory.room.look)
        is_low = broker.log_directory.room.is_low
        if is_low != self._was_low:
            self._was_low = is_low
            level, event = (
                (logging.ERROR, "disk is almost full, produce requests are refused")
                if is_low
                else (logging.INFO, "disk has room again")
            )
            logger.log(level, event, extra={"free_bytes": usage.free_bytes, "total_bytes": usage.total_bytes})
        if not is_low:
            await broker.recover_from_full_disk()

    async def _seal(self) -> None:
        broker = self._broker
        seal = broker.log_directory.seal
        job = seal.begin_write()
        if job is None:
            return
        try:
            await broker.workers.call(job.run)
        except StorageError:
            seal.fail_write(job)
            raise
        seal.finish_write(job)

    async def _flush_by_age(self) -> None:
        """Topics that acknowledge before the flush (flush.messages above 1) are flushed by age here."""
        now = self._broker.clock.monotonic()
        waiting = self._unflushed_since
        self._unflushed_since = {}
        for partition in self._broker.replicas:
            log = partition.log
            if log.recovery_point == log.flushed_offset:
                continue
            since = waiting.get(partition, now)
            if (now - since) * 1000 >= log.config.flush_ms:
                self._broker.flusher.mark_dirty(partition, durably=True)
            else:
                self._unflushed_since[partition] = since

    async def _write_derived_files(self) -> None:
        """A duty of its own: the checkpoint after it may rest on the disk's reserve, and these may not."""
        if self._is_checkpoint_due():
            await self._broker.checkpoint_derived_files()

    async def _checkpoint(self) -> None:
        if self._is_checkpoint_due():
            await self._broker.checkpoint()

    def _is_checkpoint_due(self) -> bool:
        return self._broker.log_directory.is_checkpoint_due(self._broker.clock.wall_ms())

    async def _expire(self) -> None:
        """Roll segments that are old enough, and drop those that nobody may read any more.

        What could not be deleted is tried again at once, without waiting for the next round.
        """
        broker = self._broker
        due = list(broker.replicas) if self._is_expiry_due() else broker.upkeep.unfinished
        for partition in due:
            await self._expire_partition(partition)
        self._unexpired = {each: None for each in self._unexpired if each.gone is None}

    def _is_expiry_due(self) -> bool:
        now = self._broker.clock.monotonic()
        interval = self._broker.config.integer("log.retention.check.interval.ms") / 1000
        if now - self._expired_at < interval:
            return False
        self._expired_at = now
        return True

    async def _expire_partition(self, partition: Partition) -> None:
        """One whose files cannot be read or renamed must not keep the others from being expired."""
        try:
            await self._broker.upkeep.expire(partition)
        except FlushFailedError:
            raise
        except StorageError as error:
            if partition not in self._unexpired:
                self._unexpired[partition] = None
                facts = {"partition": str(partition), "reason": str(error)}
                logger.error("segments cannot be expired yet", extra=facts)
        else:
            self._unexpired.pop(partition, None)

    async def _remove_deleted(self) -> None:
        broker = self._broker
        job = broker.log_directory.begin_removal(broker.clock.wall_ms())
        if job is not None:
            await broker.workers.call(job.run)
