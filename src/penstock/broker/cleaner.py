"""The cleaner: compacts one log after the other, the dirtiest first, beside everything else.

The work is done on worker threads in slices of some milliseconds; between two slices the loop decides
whether to go on. So the cleaner can be told at any time to let go of a log, and has done so within a slice.
Putting a finished group of segments in place is never interrupted; it takes a few renames.

A log whose compaction fails is not tried again before a restart, and the reason is logged: a damaged batch
does not get better. A full disk is no such failure; it is waited for.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.model.errors import CorruptLogError, DiskFullError, FlushFailedError, StorageError
from penstock.storage.cleanable_part import CleanablePart
from penstock.storage.compaction import Compaction
from penstock.storage.log import Log
from penstock.storage.segment import Segment
from penstock.storage.segment_swap import SegmentSwap

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

SLICE_SECONDS = 0.008
REST_SECONDS = 0.002
"""Between two slices: with the interpreter to itself, the loop answers clients as fast as always."""
SHORT_PAUSE_SECONDS_MAX = 0.01
SWAP_RETRY_SECONDS = 0.05


class _LetGo(Exception):
    """The log under work is wanted by somebody else, or the broker stops."""


class Cleaner:
    """Compacts the logs of one broker, one at a time."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        #: Why a log is not compacted any more.
        self.uncleanable: dict[Log, str] = {}
        self._current: Partition | None = None
        self._is_stopping = False
        self._must_let_go = False
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self) -> None:
        """Look for logs that are due and compact them, again and again, until told to stop.

        It rests first: a broker that has just started has better things to do.
        """
        if not self._broker.config.boolean("log.cleaner.enable"):
            return
        while not self._is_stopping:
            await self._rest(self._broker.config.integer("log.cleaner.backoff.ms") / 1000)
            while not self._is_stopping and await self._clean_dirtiest():
                pass

    async def stop(self) -> None:
        """Let go of everything; nothing is under way when this returns."""
        self._is_stopping = self._must_let_go = True
        self._wake.set()
        await self._idle.wait()

    async def release(self, partitions: Collection[Partition]) -> None:
        """Let go of logs that are about to be deleted, or cut."""
        if self._current in partitions:
            self._must_let_go = True
            self._wake.set()
            await self._idle.wait()
        for partition in partitions:
            self.uncleanable.pop(partition.log, None)

    async def _rest(self, seconds: float) -> None:
        self._wake.clear()
        if self._is_stopping or self._must_let_go:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _pause(self, seconds: float) -> None:
        """Between slices; a long one ends early when the log is wanted."""
        if self._must_let_go:
            return
        if seconds <= SHORT_PAUSE_SECONDS_MAX:
            await asyncio.sleep(seconds)
        else:
            await self._rest(seconds)

    async def _clean_dirtiest(self) -> bool:
        """Compact one log; False when there is none, or no room to do it."""
        found = None if self._broker.log_directory.room.is_low else self._find_dirtiest()
        if found is None:
            return False
        partition, part = found
        self._current, self._must_let_go = partition, self._is_stopping
        self._idle.clear()
        try:
            return await self._clean_guarded(partition, part)
        finally:
            self._current, self._must_let_go = None, self._is_stopping
            self._idle.set()

    def _find_dirtiest(self) -> tuple[Partition, CleanablePart] | None:
        due = []
        for partition in self._broker.replicas:
            log = partition.log
            if not log.config.is_compacted or log in self.uncleanable or partition.is_being_cut:
                continue
            try:
                part = log.cleanable_part(self._broker.clock.wall_ms(), partition.last_stable_offset)
            except CorruptLogError as error:
                self._give_up(partition, error)
                continue
            except StorageError as error:
                # Nothing is held against the log: it may only be the files too many that are open.
                self._broker.report_unreadable(partition, error)
                continue
            if log.is_due_for_compaction(part):
                due.append((partition, part))
        return max(due, key=lambda found: found[1].dirty_ratio, default=None)

    async def _clean_guarded(self, partition: Partition, part: CleanablePart) -> bool:
        try:
            await self._clean(partition, part)
        except _LetGo:
            logger.info("compaction interrupted", extra={"partition": str(partition)})
        except FlushFailedError as error:
            self._broker.fail(error)
        except DiskFullError as error:
            logger.warning("no room to compact", extra={"partition": str(partition), "reason": str(error)})
            return False
        except Exception as error:
            # Whatever it is, other logs must not stay dirty because of this one.
            self._give_up(partition, error)
        return True

    def _give_up(self, partition: Partition, error: Exception) -> None:
        self.uncleanable[partition.log] = str(error)
        logger.error(
            "log cannot be compacted",
            exc_info=None if isinstance(error, StorageError) else error,
            extra={"partition": str(partition), "reason": str(error)},
        )

    async def _clean(self, partition: Partition, part: CleanablePart) -> None:
        log, clock = partition.log, self._broker.clock
        started = clock.monotonic()
        compaction = log.begin_compaction(
            part,
            now=clock.wall_ms(),
            map_bytes=self._broker.config.integer("log.cleaner.dedupe.buffer.size"),
        )
        try:
            await self._work(compaction.map_keys())
            for group in log.group_segments(compaction):
                await self._clean_group(log, compaction, group)
        except BaseException:
            log.abandon_compaction(compaction)
            raise
        log.finish_compaction(compaction)
        await self._broker.checkpoint()
        totals = compaction.totals
        logger.info(
            "log compacted",
            extra={
                "partition": str(partition),
                "cleaned_offset": log.cleaned_offset,
                "records_before": totals.read_records,
                "records_after": totals.kept_records,
                "bytes_before": totals.read_bytes,
                "bytes_after": totals.kept_bytes,
                "seconds": round(clock.monotonic() - started, 3),
            },
        )

    async def _clean_group(self, log: Log, compaction: Compaction, group: list[Segment]) -> None:
        call = self._broker.workers.call
        cleaned = await call(log.begin_group, compaction, group)
        try:
            await self._work(compaction.clean(group, cleaned))
            swap = await self._begin_swap(lambda: log.begin_swap(group, cleaned))
        except BaseException:
            await call(cleaned.discard)
            raise
        try:
            await call(swap.commit)
        except BaseException:
            log.abandon_swap(swap)
            await call(cleaned.discard)
            raise
        log.enter_swap(swap)
        await self._complete(log, swap)
        self._broker.loop.call_later(swap.delay_ms / 1000, self._remove, swap)

    async def _begin_swap(self, begin: Callable[[], SegmentSwap | None]) -> SegmentSwap:
        """Wait until no other job has the log's files in its hands."""
        while (swap := begin()) is None:
            await self._rest(SWAP_RETRY_SECONDS)
            if self._must_let_go:
                raise _LetGo
        return swap

    async def _complete(self, log: Log, swap: SegmentSwap) -> None:
        """Give the files their names. There is no way back from here, and the next start would go on too."""
        while True:
            try:
                await self._broker.workers.call(swap.complete)
            except DiskFullError as error:
                logger.warning(
                    "no room to rename files", extra={"directory": log.directory, "reason": str(error)}
                )
                if self._must_let_go:
                    raise
                await self._rest(SWAP_RETRY_SECONDS)
            else:
                log.finish_swap(swap)
                return

    def _remove(self, swap: SegmentSwap) -> None:
        self._broker.tasks.start(self._broker.workers.call(swap.remove), name="remove compacted segments")

    async def _work(self, slices: Iterator[int]) -> None:
        """Do all slices, at the speed that is allowed."""
        while (size := await self._broker.workers.call(self._do_some, slices)) is not None:
            bytes_per_second = self._broker.config.number("log.cleaner.io.max.bytes.per.second")
            await self._pause(max(REST_SECONDS, size / bytes_per_second))
            if self._must_let_go:
                raise _LetGo

    def _do_some(self, slices: Iterator[int]) -> int | None:
        """On a worker thread: some milliseconds' worth; answers how many bytes, None at the end."""
        monotonic = self._broker.clock.monotonic
        until = monotonic() + SLICE_SECONDS
        total = 0
        for size in slices:
            total += size
            if monotonic() >= until:
                return total
        return total or None
