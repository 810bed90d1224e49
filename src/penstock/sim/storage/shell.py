"""What a broker does with storage, without the broker: the same calls in the same order, on one thread.

Whoever changes how the broker drives its logs changes this too, or the explorer explores something else.
"""

from collections.abc import Callable, Iterator
from random import Random

from penstock.model.errors import DiskFullError
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.sim.storage.plan import Settings
from penstock.storage.compaction import Compaction
from penstock.storage.filesystem import FileSystem
from penstock.storage.flush_job import FlushJob
from penstock.storage.log import CheckpointJob, DeletionJob, Log
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.log_loading import LogSpec
from penstock.storage.segment import Segment
from penstock.storage.segment_swap import SegmentSwap
from penstock.storage.tail_cache import TailCache

DATA_DIRECTORY = "/data"
TOPIC = "orders"
TOPIC_ID = TopicId(bytes(range(16)))
CLUSTER_ID = "simulated-cluster-0000"
RESERVE_BYTES = 1000
DELETION_DELAY_MS = 1000


class Shell:
    """One process's logs."""

    def __init__(self, directory: LogDirectory, logs: list[Log], *, now: int) -> None:
        self.logs = logs
        self._directory = directory
        self._now = now
        self._deletions: list[tuple[int, DeletionJob]] = []
        self._swaps: list[tuple[int, SegmentSwap]] = []

    @classmethod
    def start(cls, filesystem: FileSystem, settings: Settings, *, now: int) -> "Shell":
        """Open the data directory and all logs in it, as a broker's start does."""
        options = DirectoryOptions(
            node_id=NodeId(1),
            cluster_id=CLUSTER_ID,
            new_uuid=lambda: Random(0).randbytes(16),
            reserve_bytes=RESERVE_BYTES,
        )
        directory = LogDirectory.open(filesystem, DATA_DIRECTORY, options, now=Millis(now))
        config = LogConfig(
            segment_bytes=settings.segment_bytes,
            segment_ms=settings.segment_ms,
            index_interval_bytes=settings.index_interval_bytes,
            retention_ms=settings.retention_ms,
            retention_bytes=settings.retention_bytes,
            preallocate=settings.preallocate,
            cleanup_policy=_cleanup_policy(settings),
            delete_retention_ms=settings.delete_retention_ms,
        )
        specs = [
            LogSpec(partition=TopicPartition(TOPIC, number), topic_id=TOPIC_ID, config=config)
            for number in range(settings.partitions)
        ]
        cache = TailCache(settings.tail_cache_bytes)
        load = directory.begin_load(specs, tail_cache=cache, now=Millis(now))
        load.run()
        return cls(directory, directory.finish_load(load), now=now)

    def flush_round(self) -> Iterator[tuple[int, bool]]:
        """Group commit: all writes, then all flushes. Answers per log whether it got through."""
        jobs = [(number, job) for number, log in enumerate(self.logs) if (job := log.begin_flush())]
        outcomes = [self._run(job) for _, job in jobs]
        for (number, job), error in zip(jobs, outcomes, strict=True):
            log = self.logs[number]
            if error is None:
                log.finish_flush(job)
                self._directory.record_flushed(log, job.size_bytes)
            else:
                log.fail_flush(job, error)
            yield number, error is None

    def rewind(self, partition: int) -> None:
        """Bring a log back to its durable end after a write found no room."""
        self.logs[partition].rewind()

    def tick(self, now: int) -> None:
        """The work of every second: rolling by age, sealing, and a checkpoint if one is due."""
        self._now = now
        for log in self.logs:
            log.roll_if_due(now)
        self._write_seal()
        if self._directory.is_checkpoint_due(Millis(now)):
            self.checkpoint()
        for due_at, job in tuple(self._deletions):
            if due_at <= now:
                self._deletions.remove((due_at, job))
                job.remove()
        for due_at, swap in tuple(self._swaps):
            if due_at <= now:
                self._swaps.remove((due_at, swap))
                swap.remove()

    def checkpoint(self) -> None:
        """Write down where all logs are, and what saves the next start from reading them."""
        self._directory.begin_checkpoint(Millis(self._now)).run()
        for log in self.logs:
            job = log.begin_checkpoint()
            if job is not None:
                self._run_checkpoint(log, job)

    def delete_records(self, partition: int, offset: int) -> None:
        """Move a log's start, durably."""
        if self.logs[partition].advance_log_start(offset):
            self._directory.begin_checkpoint(Millis(self._now)).run()

    def expire(self, now: int) -> None:
        """Let old segments go: the new log start is durable before the first file is touched."""
        for log in self.logs:
            job = log.expire(now, log.flushed_offset)
            if job is not None:
                self._directory.begin_checkpoint(Millis(now)).run()
                job.run()
                self._deletions.append((now + DELETION_DELAY_MS, job))

    def truncate(self, partition: int, offset: int) -> None:
        """Cut a log, after taking back what the data directory says of it."""
        log = self.logs[partition]
        log.flush()
        lowered = self._directory.begin_lower(log, Offset(offset))
        lowered.run()
        job = log.begin_truncate(offset)
        if job is not None:
            job.run()
            log.finish_truncate(job)
        self._directory.finish_lower(lowered)

    def restart(self, partition: int, offset: int) -> None:
        """Let a log begin anew; meanwhile, others have the directory written."""
        log = self.logs[partition]
        log.flush()
        lowered = self._directory.begin_lower(log, Offset(offset))
        lowered.run()
        job = log.begin_restart(offset)
        self._directory.begin_checkpoint(Millis(self._now)).run()
        job.run()
        log.finish_restart(job)
        self._directory.finish_lower(lowered)

    def compact(self, partition: int, map_bytes: int, between: Callable[[], None]) -> None:
        """A pass over one log, as the cleaner does it; ``between`` is called wherever others may come in."""
        log = self.logs[partition]
        part = log.cleanable_part(self._now, log.flushed_offset)
        compaction = log.begin_compaction(part, now=self._now, map_bytes=map_bytes)
        try:
            _exhaust(compaction.map_keys())
            for group in log.group_segments(compaction):
                self._compact_group(log, compaction, group, between)
        except DiskFullError:
            log.abandon_compaction(compaction)
            raise
        log.finish_compaction(compaction)
        self._directory.begin_checkpoint(Millis(self._now)).run()

    def _compact_group(
        self, log: Log, compaction: Compaction, group: list[Segment], between: Callable[[], None]
    ) -> None:
        cleaned = log.begin_group(compaction, group)
        swap = None
        try:
            _exhaust(compaction.clean(group, cleaned))
            swap = log.begin_swap(group, cleaned)
            assert swap is not None
            swap.commit()
        except DiskFullError:
            if swap is not None:
                log.abandon_swap(swap)
            cleaned.discard()
            raise
        between()
        log.enter_swap(swap)
        between()
        swap.complete()
        log.finish_swap(swap)
        self._swaps.append((self._now + DELETION_DELAY_MS, swap))
        between()

    def close(self) -> None:
        """Stop in good order."""
        for log in self.logs:
            log.close()
        self._directory.close(Millis(self._now))

    def _write_seal(self) -> None:
        job = self._directory.seal.begin_write()
        if job is None:
            return
        try:
            job.run()
        except DiskFullError:
            self._directory.seal.fail_write(job)
            raise
        self._directory.seal.finish_write(job)

    def _run_checkpoint(self, log: Log, job: CheckpointJob) -> None:
        try:
            job.run()
        except DiskFullError:
            log.fail_checkpoint(job)
            raise
        log.finish_checkpoint(job)

    def _run(self, job: FlushJob) -> DiskFullError | None:
        try:
            job.run()
        except DiskFullError as error:
            return error
        return None


def _cleanup_policy(settings: Settings) -> frozenset[str]:
    if not settings.keys:
        return frozenset({"delete"})
    return frozenset({"compact", "delete"} if settings.deletes else {"compact"})


def _exhaust(slices: Iterator[int]) -> None:
    for _ in slices:
        pass
