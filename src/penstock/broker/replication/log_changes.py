"""Cutting, emptying and repairing logs of followers, while everything else goes on.

A log is changed under its partition: from the first step to the last the partition gets no other role and
nobody else touches the log. Before a cut the data directory takes back, durably, what it remembers of the
log's end; else the next start would take the cut for damage.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.errors import FlushFailedError
from penstock.model.ids import Offset

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

BUSY_SECONDS = 0.01


class LogChanges:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    async def truncate(self, partition: Partition, offset: int) -> None:
        """Cut everything from ``offset`` on, even what was committed; the caller knows that it may."""
        log = partition.log
        await self._wait_idle(partition)
        border = log.border_before(offset)
        if border < log.log_start_offset:
            await self.restart(partition, log.log_start_offset)
            return
        log.lower_high_watermark(offset)
        lowered = self._broker.log_directory.begin_lower(log, Offset(border))
        await self._run(lowered.run)
        await self._wait_idle(partition)
        job = log.begin_truncate(offset)
        if job is not None:
            await self._run(job.run)
            log.finish_truncate(job)
        self._broker.log_directory.finish_lower(lowered)

    async def restart(self, partition: Partition, offset: int) -> None:
        """Drop everything, and begin at ``offset``."""
        log = partition.log
        await self._wait_idle(partition)
        log.lower_high_watermark(offset)
        lowered = self._broker.log_directory.begin_lower(log, Offset(offset))
        await self._run(lowered.run)
        await self._wait_idle(partition)
        job = log.begin_restart(offset)
        await self._run(job.run)
        log.finish_restart(job)
        self._broker.log_directory.finish_lower(lowered)

    async def repair(self, partition: Partition) -> None:
        """Give up what is damaged, and what lies behind it: the leader has it."""
        log, directory = partition.log, self._broker.log_directory
        await self._wait_idle(partition)
        lowered = directory.begin_lower(log, Offset(log.repair_offset))
        job = log.begin_repair(lowered.run)
        if job is not None:
            await self._run(job.run)
            log.finish_repair(job)
        directory.finish_lower(lowered)
        logger.warning(
            "damaged log is filled again by its leader",
            extra={"partition": str(partition), "end": log.log_end_offset},
        )

    async def _wait_idle(self, partition: Partition) -> None:
        """The cleaner lets go when it is told to; a flush or a checkpoint is over soon."""
        while True:
            await self._broker.cleaner.release([partition])
            if not partition.log.is_busy:
                return
            await asyncio.sleep(BUSY_SECONDS)

    async def _run(self, run: Callable[[], object]) -> None:
        try:
            await self._broker.workers.call(run)
        except FlushFailedError as error:
            self._broker.fail(error)
            raise
