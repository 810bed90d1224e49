"""Cutting, emptying and repairing logs of followers, while everything else goes on.

A log is changed under its partition: from the first step to the last the partition gets no other role and
nobody else touches the log. Before a cut the data directory takes back, durably, what it remembers of the
log's end; else the next start would take the cut for damage.

A job that fails, as on a full disk, is repeated after a rest: once memory is cut, the log takes no role and
flushes nothing before its files are. Only where the partition goes, or the process, the change is given up:
then the log is left as after a crash, and the next start finds out how far the job came.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.errors import FlushFailedError, StorageError
from penstock.model.ids import Offset

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

BUSY_SECONDS = 0.01
REST_SECONDS = 1.0
"""Before a job that failed is run again."""


class LogChanges:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        #: Logs that could not be changed so far, and why.
        self.failing: dict[Partition, str] = {}
        #: Changes between two attempts.
        self._resting: dict[Partition, asyncio.Future[None]] = {}
        #: What fails of these is not tried again.
        self._given_up: dict[Partition, None] = {}

    def give_up(self, partition: Partition) -> None:
        """Have the change of this log cancelled instead of tried again; what is under way comes to an end."""
        self._given_up[partition] = None
        if (rest := self._resting.get(partition)) is not None:
            rest.cancel()

    def forget(self, partition: Partition) -> None:
        """The change of a log that was given up has ended, in one way or the other."""
        self._given_up.pop(partition, None)

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
        await self._run(partition, lowered.run)
        await self._wait_idle(partition)
        job = log.begin_truncate(offset)
        if job is not None:
            await self._run(partition, job.run)
            log.finish_truncate(job)
        self._broker.log_directory.finish_lower(lowered)

    async def restart(self, partition: Partition, offset: int) -> None:
        """Drop everything, and begin at ``offset``."""
        log = partition.log
        await self._wait_idle(partition)
        log.lower_high_watermark(offset)
        lowered = self._broker.log_directory.begin_lower(log, Offset(offset))
        await self._run(partition, lowered.run)
        await self._wait_idle(partition)
        job = log.begin_restart(offset)
        self._broker.upkeep.forget_expired(partition)  # they may have the new segment's name
        await self._run(partition, job.run)
        log.finish_restart(job)
        self._broker.log_directory.finish_lower(lowered)

    async def repair(self, partition: Partition) -> None:
        """Give up what is damaged, and what lies behind it: the leader has it."""
        log, directory = partition.log, self._broker.log_directory
        await self._wait_idle(partition)
        lowered = directory.begin_lower(log, Offset(log.repair_offset))
        job = log.begin_repair(lowered.run)
        if job is not None:
            await self._run(partition, job.run)
            log.finish_repair(job)
        directory.finish_lower(lowered)
        logger.warning(
            "damaged log is filled again by its leader",
            extra={"partition": str(partition), "end": log.log_end_offset},
        )

    async def _wait_idle(self, partition: Partition) -> None:
        """The cleaner lets go when it is told to; a flush, a checkpoint or an expiry is over soon."""
        while True:
            await self._broker.cleaner.release([partition])
            await self._broker.upkeep.wait_idle([partition.log])
            if not partition.log.is_busy:
                return
            await asyncio.sleep(BUSY_SECONDS)

    async def _run(self, partition: Partition, run: Callable[[], object]) -> None:
        """Run a job until it succeeds."""
        try:
            while (error := await self._failure_of(run)) is not None:
                if partition not in self.failing:
                    logger.error(
                        "log cannot be changed yet, trying again",
                        extra={"partition": str(partition), "reason": str(error)},
                    )
                self.failing[partition] = str(error)
                await self._rest(partition)
        finally:
            self.failing.pop(partition, None)

    async def _failure_of(self, run: Callable[[], object]) -> StorageError | None:
        try:
            await self._broker.workers.call(run)
        except FlushFailedError as error:
            self._broker.fail(error)
            raise
        except StorageError as error:
            return error
        return None

    async def _rest(self, partition: Partition) -> None:
        """Wait until the next attempt; raises ``CancelledError`` where there is to be none."""
        rest = self._resting[partition] = asyncio.get_running_loop().create_future()
        if partition in self._given_up:
            rest.cancel()
        try:
            await asyncio.wait_for(rest, REST_SECONDS)
        except TimeoutError:
            return
        except asyncio.CancelledError:
            partition.log.give_up_cut()
            raise
        finally:
            del self._resting[partition]
