"""One data directory: everything a broker keeps on one disk, from the lock to the last log.

It remembers what the logs cannot know by themselves: whose directory this is, whether the last stop was
clean, up to where each log was durable, which logs were deleted. It is the only place that makes, renames or
removes partition directories.

Like a log it lives on the loop and does nothing slow there: ``begin_...`` captures the work as a job that
runs on any thread, ``finish_...`` takes note. ``open`` and ``close`` block.

Order at start (disk rules 27 to 29): lock, flush failures, identity; then the clean-stop marker is read and,
before anything else is written, removed durably.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.model.errors import InvariantError
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.storage.atomic_file import TEMPORARY_SUFFIX
from penstock.storage.checkpoint_files import CheckpointFiles, OffsetTables
from penstock.storage.clean_shutdown import (
    UNKNOWN_BROKER_EPOCH,
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from penstock.storage.directory_identity import LOCK_FILE, establish_identity, make_directories
from penstock.storage.directory_jobs import CheckpointJob, LowerJob, RememberedLimit
from penstock.storage.disk_room import RESERVE_BYTES, SOFT_LIMIT_BYTES_MAX, DiskRoom
from penstock.storage.filesystem import DiskUsage, FileSystem, Lock, join_path
from penstock.storage.flush_failures import check_flush_failures
from penstock.storage.log import Log
from penstock.storage.log_deletion import DeletedLog, DeleteJob, RemovalJob
from penstock.storage.log_loading import LoadContext, LoadJob, LogLoad, LogSpec, log_file_sizes
from penstock.storage.meta_properties import MetaProperties
from penstock.storage.partition_directory import deleted_name
from penstock.storage.recovery_hints import RecoveryHints
from penstock.storage.seal import SEAL_FILE, Seal, SealKey
from penstock.storage.tail_cache import TailCache

CHECKPOINT_INTERVAL_MS = 5_000
CHECKPOINT_INTERVAL_BYTES = 64 * 1024 * 1024
"""A start after a crash reads about this much again, however long the broker ran."""

UNLIMITED = RememberedLimit(Offset(2**63 - 1), Offset(2**63 - 1))
NO_HIGH_WATERMARKS: Mapping[TopicPartition, Offset] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryOptions:
    """Who opens a data directory, and how."""

    node_id: NodeId
    #: None for a node that takes the directory's word, or makes a new cluster.
    cluster_id: str | None = None
    #: For a new directory that was offered to a cluster under this id (``joining``); None to make one.
    directory_id: bytes | None = None
    #: Sixteen random bytes, for a new cluster, a new directory, and parting names.
    new_uuid: Callable[[], bytes]
    reserve_bytes: int = RESERVE_BYTES
    #: Producers are refused while less is free; never more than 5 % of the disk.
    soft_limit_bytes_max: int = SOFT_LIMIT_BYTES_MAX
    checkpoint_interval_ms: int = CHECKPOINT_INTERVAL_MS


class LogDirectory:
    """The logs of one data directory, and the files beside them."""

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        *,
        meta: MetaProperties,
        lock: Lock,
        options: DirectoryOptions,
        now: Millis,
    ) -> None:
        self.path = path
        self.meta = meta
        self.logs: dict[TopicPartition, Log] = {}
        #: False when others may read the data and we may not change that; worth a warning.
        self.is_private = fs.make_private(path)
        self._fs = fs
        self._lock = lock
        self._new_uuid = options.new_uuid
        self._topic_ids: dict[TopicPartition, TopicId] = {}
        #: Partitions that are here but could not be opened: what is known of them is kept.
        self._unopened: set[TopicPartition] = set()
        #: Logs that are about to be cut, or to begin anew: nobody knows yet whether they have.
        self._lowered: dict[TopicPartition, RememberedLimit] = {}
        marker = read_clean_shutdown(fs, path)
        remove_clean_shutdown(fs, path)
        #: Whether the last process that used the directory stopped in good order.
        self.was_clean = marker is not None
        self._vouched_sizes = {} if marker is None else _by_directory(marker.file_sizes)
        _remove_temporary_files(fs, path)
        self.room = DiskRoom(
            fs,
            path,
            reserve_bytes=options.reserve_bytes,
            soft_limit_bytes_max=options.soft_limit_bytes_max,
        )
        self.room.look()
        self.seal = Seal.open(fs, join_path(path, SEAL_FILE))
        self._checkpoints = CheckpointFiles(fs, path, self.room)
        self._checkpoint_interval_ms = options.checkpoint_interval_ms
        self._checkpointed_at = now
        self._bytes_since_checkpoint = 0
        #: Since the directory was opened.
        self.flushed_bytes = 0
        self._deleted: list[DeletedLog] = []

    @classmethod
    def open(cls, fs: FileSystem, path: str, options: DirectoryOptions, *, now: Millis) -> "LogDirectory":
        """Take the directory, making it if missing; refuse what is somebody else's. Blocks."""
        make_directories(fs, path)
        lock = fs.lock(join_path(path, LOCK_FILE))
        try:
            check_flush_failures(fs, path, now)
            meta = establish_identity(
                fs,
                path,
                node_id=options.node_id,
                cluster_id=options.cluster_id,
                directory_id=options.directory_id,
                new_uuid=options.new_uuid,
            )
            return cls(fs, path, meta=meta, lock=lock, options=options, now=now)
        except BaseException:
            lock.release()
            raise

    def begin_load(self, specs: Iterable[LogSpec], *, tail_cache: TailCache | None, now: Millis) -> LogLoad:
        """Open all logs the broker should have: what is missing is made, what is nobody's moved aside.

        Logs that are open already (the metadata log) need not be named again.
        """
        return self._load(specs, tail_cache, now, known=[*self.logs])

    def begin_create(self, specs: Iterable[LogSpec], *, tail_cache: TailCache | None, now: Millis) -> LogLoad:
        """Open some logs, made as far as they are missing; other directories are left alone."""
        return self._load(specs, tail_cache, now, known=None)

    def finish_load(self, load: LogLoad) -> list[Log]:
        """Take in the logs that were opened; a job that failed has none."""
        for job in load.jobs:
            self._vouched_sizes.pop(str(job.spec.partition), None)
            self._topic_ids[job.spec.partition] = job.spec.topic_id
            if job.log is None:
                self._unopened.add(job.spec.partition)
            else:
                self._unopened.discard(job.spec.partition)
                self.logs[job.spec.partition] = job.log
        self._deleted += [DeletedLog(name=name, due_at=Millis(0), log=None) for name in load.deleted]
        if load.known is not None:
            self.seal.retain(map(self._seal_key, self._topic_ids))
        return [job.log for job in load.jobs if job.log is not None]

    def begin_delete(self, partitions: Sequence[TopicPartition], now: Millis) -> DeleteJob:
        """Let go of logs whose flushes have ended; nobody may append to them or begin to read them."""
        renames = []
        for partition in partitions:
            log = self.logs.pop(partition)
            self.seal.forget(self._seal_key(partition))
            self._lowered.pop(partition, None)  # of a cut that was given up
            del self._topic_ids[partition]
            due_at = Millis(now + log.config.file_delete_delay_ms)
            name = deleted_name(partition, self._new_uuid())
            renames.append((str(partition), DeletedLog(name=name, due_at=due_at, log=log)))
        return DeleteJob(self._fs, self.path, renames)

    def finish_delete(self, job: DeleteJob) -> None:
        """The directories are out of sight; their files go when they are due."""
        self._deleted += job.deleted

    def begin_removal(self, now: Millis) -> RemovalJob | None:
        """Remove the files of logs deleted long enough ago; None when there are none."""
        due = [deleted for deleted in self._deleted if deleted.due_at <= now]
        if not due:
            return None
        self._deleted = [deleted for deleted in self._deleted if deleted.due_at > now]
        return RemovalJob(self._fs, self.path, due)

    def record_flushed(self, log: Log, size_bytes: int) -> None:
        """A flush of ``size_bytes`` of this log has finished: seal it, and count towards the checkpoint."""
        if self.logs.get(log.topic_partition) is log:
            self.seal.record(self._seal_key(log.topic_partition), self._durable_end(log))
        self._bytes_since_checkpoint += size_bytes
        self.flushed_bytes += size_bytes

    def begin_lower(self, log: Log, offset: Offset) -> LowerJob:
        """Forget what the log had above ``offset``; it may be cut, or begin anew, there once the job has run.

        Otherwise the next start takes the cut for damage (disk rule 20). ``finish_lower`` follows the cut.
        Until then nothing is remembered that a log which was cut lacks, nor one that was not.
        """
        partition = log.topic_partition
        limit = RememberedLimit(
            min(offset, Offset(log.recovery_point)), min(offset, Offset(log.log_start_offset))
        )
        self._lowered[partition] = limit
        self.seal.lower(self._seal_key(partition), limit.durable_end)
        high_watermarks = dict(self._checkpoints.written.high_watermarks)
        if partition in high_watermarks:
            high_watermarks[partition] = min(high_watermarks[partition], offset)
        checkpoint = CheckpointJob(self._checkpoints, self._offset_tables(high_watermarks))
        return LowerJob(partition, checkpoint, self.seal.begin_write())

    def finish_lower(self, job: LowerJob) -> None:
        """The log has been cut; from now on it vouches for itself again."""
        del self._lowered[job.partition]
        if job.seal_job is not None:
            self.seal.finish_write(job.seal_job)

    def is_checkpoint_due(self, now: Millis) -> bool:
        """Whether enough time or enough bytes went by since the last one."""
        if self._bytes_since_checkpoint >= CHECKPOINT_INTERVAL_BYTES:
            return True
        return now - self._checkpointed_at >= self._checkpoint_interval_ms

    def begin_checkpoint(
        self, now: Millis, high_watermarks: Mapping[TopicPartition, Offset] = NO_HIGH_WATERMARKS
    ) -> CheckpointJob:
        """Capture where all logs are, for the next start.

        To be run before files below a new log start are removed (disk rule 18).
        """
        self._checkpointed_at = now
        self._bytes_since_checkpoint = 0
        return CheckpointJob(self._checkpoints, self._offset_tables(high_watermarks))

    def high_watermark(self, partition: TopicPartition) -> Offset | None:
        """The high watermark of the last checkpoint; it may lag, and may be unknown."""
        return self._checkpoints.written.high_watermarks.get(partition)

    def usage(self) -> DiskUsage:
        """Look at the disk; blocks, briefly."""
        return self.room.look()

    def close(
        self,
        now: Millis,
        *,
        high_watermarks: Mapping[TopicPartition, Offset] = NO_HIGH_WATERMARKS,
        broker_epoch: int = UNKNOWN_BROKER_EPOCH,
    ) -> None:
        """Stop in good order: the caller has closed all logs, and no job is under way. Blocks.

        The marker is the last thing written. Logs that are offline are not vouched for, nor those whose cut
        was given up.
        """
        self.begin_checkpoint(now, high_watermarks).run()
        for log in self.logs.values():
            self.record_flushed(log, 0)
        self.seal.flush()
        sizes = {
            f"{partition}/{name}": size
            for partition, log in self.logs.items()
            if not log.is_offline and not log.cut_is_given_up
            for name, size in log_file_sizes(self._fs, log.directory).items()
        }
        write_clean_shutdown(self._fs, self.path, CleanShutdown(broker_epoch=broker_epoch, file_sizes=sizes))
        self.abandon()

    def abandon(self) -> None:
        """Let go of the directory as it is; the next start recovers."""
        self.seal.close()
        self._lock.release()

    def _load(
        self,
        specs: Iterable[LogSpec],
        tail_cache: TailCache | None,
        now: Millis,
        *,
        known: list[TopicPartition] | None,
    ) -> LogLoad:
        context = LoadContext(
            fs=self._fs,
            path=self.path,
            checkpoints=self._checkpoints,
            tail_cache=tail_cache,
            new_uuid=self._new_uuid,
            now=now,
        )
        jobs = [self._load_job(context, spec) for spec in specs]
        return LogLoad(context, jobs, known=known)

    def _load_job(self, context: LoadContext, spec: LogSpec) -> LoadJob:
        partition = spec.partition
        if partition in self.logs:
            raise InvariantError(f"{partition} is open already")
        written = self._checkpoints.written
        hints = RecoveryHints(
            recovery_point=written.recovery_points.get(partition, 0),
            log_start_offset=written.log_starts.get(partition, 0),
            cleaned_offset=written.cleaned_offsets.get(partition, 0),
            sealed_offset=self.seal.sealed_offset(SealKey(spec.topic_id, partition.partition)),
        )
        return LoadJob(context, spec, hints, self._vouched_sizes.get(str(partition)))

    def _offset_tables(self, high_watermarks: Mapping[TopicPartition, Offset]) -> OffsetTables:
        logs, kept = self.logs.items(), self._checkpoints.written.only(self._unopened)
        return OffsetTables(
            recovery_points={**kept.recovery_points} | {name: self._durable_end(log) for name, log in logs},
            log_starts={**kept.log_starts}
            | {name: start for name, log in logs if (start := self._remembered_start(log))},
            high_watermarks={**kept.high_watermarks}
            | {name: high_watermarks[name] for name in self.logs if name in high_watermarks},
            cleaned_offsets={**kept.cleaned_offsets}
            | {name: cleaned for name, log in logs if (cleaned := self._remembered_cleaned(log))},
        )

    def _durable_end(self, log: Log) -> Offset:
        """Up to where the log may be remembered as durable."""
        return min(Offset(log.recovery_point), self._limit(log).durable_end)

    def _remembered_start(self, log: Log) -> Offset:
        return min(Offset(log.log_start_offset), self._limit(log).log_start)

    def _remembered_cleaned(self, log: Log) -> Offset:
        return min(Offset(log.cleaned_offset), self._limit(log).durable_end)

    def _limit(self, log: Log) -> RememberedLimit:
        return self._lowered.get(log.topic_partition, UNLIMITED)

    def _seal_key(self, partition: TopicPartition) -> SealKey:
        return SealKey(self._topic_ids[partition], partition.partition)


def _remove_temporary_files(fs: FileSystem, path: str) -> None:
    for name in fs.list_directory(path):
        if name.endswith(TEMPORARY_SUFFIX) and not fs.is_directory(join_path(path, name)):
            fs.unlink(join_path(path, name))


def _by_directory(file_sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Sizes by the partition's directory and the file's name in it."""
    sizes: dict[str, dict[str, int]] = {}
    for path, size in file_sizes.items():
        directory, _, name = path.partition("/")
        sizes.setdefault(directory, {})[name] = size
    return sizes
