"""What a broker does with storage, without the broker: the same calls in the same order, on one thread.

Whoever changes how the broker drives its logs changes this too, or the explorer explores something else.
"""

from collections.abc import Iterator
from random import Random

from penstock.model.errors import DiskFullError
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.sim.storage.plan import Settings
from penstock.storage.filesystem import FileSystem
from penstock.storage.flush_job import FlushJob
from penstock.storage.log import CheckpointJob, DeletionJob, Log
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.log_loading import LogSpec
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
        job = self._directory.begin_lower(log, Offset(offset))
        job.run()
        log.truncate(offset)
        self._directory.finish_lower(job)

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
