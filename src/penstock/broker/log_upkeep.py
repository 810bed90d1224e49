"""The upkeep of single logs: writing derived files, coming back after a full disk, deleting what is old.

All of it works on files by their names, and the logs of a topic that is made again get directories of the
same names. So a log is *held* while a job of its upkeep is under way: whoever wants to delete it, or to cut
it, waits for the end of that. Nothing begins for a log that is gone.

What retention took out of a log is remembered until its files have been renamed, and tried again if that
fails. Until then nothing more is taken out of that log, so there is never more than one such job for each.
"""

import logging
from asyncio import Event
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.errors import StorageError
from penstock.storage.log import DeletionJob, Log

if TYPE_CHECKING:
    from penstock.broker.broker_disk import BrokerDisk

logger = logging.getLogger(__name__)


class LogUpkeep:
    """Of the logs of one broker."""

    def __init__(self, broker: "BrokerDisk") -> None:
        self._broker = broker
        #: Logs with a job under way, and what tells of its end.
        self._held: dict[Log, Event] = {}
        #: Segments that are no longer part of their logs, but still have their names.
        self._unfinished: dict[Partition, DeletionJob] = {}

    @property
    def unfinished(self) -> list[Partition]:
        """Those whose expired segments could not be deleted so far."""
        return list(self._unfinished)

    async def expire(self, partition: Partition) -> None:
        """Roll and expire one partition's segments, unless it is gone or being cut; can be repeated."""
        async with self._hold(partition.log):
            if partition.gone is not None or partition.is_being_cut:
                return
            await self._delete_expired(partition)
            job = partition.expire(self._broker.clock.wall_ms())
            if job is not None:
                self._unfinished[partition] = job
                await self._delete_expired(partition)

    async def write_derived_files(self, log: Log) -> None:
        """Write the index entries and leader epochs that are only in memory yet."""
        async with self._hold(log):
            job = log.begin_checkpoint() if self._is_here(log) else None
            if job is None:
                return
            try:
                await self._broker.workers.call(job.run)
            except StorageError:
                log.fail_checkpoint(job)
                raise
            log.finish_checkpoint(job)

    async def rewind(self, log: Log) -> None:
        """Let a log that had to give up a write go on: there is room again."""
        async with self._hold(log):
            job = log.begin_rewind() if self._is_here(log) else None
            if job is not None:
                await self._broker.workers.call(job.run)
                log.finish_rewind(job)
                logger.info("log takes appends again", extra={"partition": str(log.topic_partition)})

    async def wait_idle(self, logs: Collection[Log]) -> None:
        """Wait until none of these is held. Whoever awaits anything else afterwards must ask again."""
        while (ended := next((self._held[log] for log in logs if log in self._held), None)) is not None:
            await ended.wait()

    async def release(self, partitions: Collection[Partition]) -> None:
        """Have nothing more to do with these, which are gone; what is under way is awaited.

        Their logs must have left the data directory before anything else is awaited.
        """
        await self.wait_idle([partition.log for partition in partitions])
        for partition in partitions:
            self.forget_expired(partition)

    def forget_expired(self, partition: Partition) -> None:
        """All files of the log as it was go by other means: let go of those that retention took out of it."""
        job = self._unfinished.pop(partition, None)
        if job is not None:
            self._remove_later(job)

    @asynccontextmanager
    async def _hold(self, log: Log) -> AsyncIterator[None]:
        await self.wait_idle([log])
        ended = self._held[log] = Event()
        try:
            yield
        finally:
            del self._held[log]
            ended.set()

    def _is_here(self, log: Log) -> bool:
        """Whether the log's directory is still that of its name."""
        return self._broker.log_directory.logs.get(log.topic_partition) is log

    async def _delete_expired(self, partition: Partition) -> None:
        """Give files of expired segments their parting names; those that failed before come first."""
        job = self._unfinished.get(partition)
        if job is None:
            return
        await self._broker.checkpoint()  # the log's beginning is on disk before files go
        await self._broker.workers.call(job.run)
        del self._unfinished[partition]
        self._remove_later(job)
        logger.info(
            "segments expired",
            extra={"partition": str(partition), "log_start_offset": partition.log.log_start_offset},
        )

    def _remove_later(self, job: DeletionJob) -> None:
        """Somebody may be reading the files still."""
        self._broker.loop.call_later(job.delay_ms / 1000, self._remove, job)

    def _remove(self, job: DeletionJob) -> None:
        self._broker.tasks.start(self._broker.workers.call(job.remove), name="remove expired segments")
