"""Finding or making the directories of many logs, and opening the logs in them.

The work is cut so that its slow parts can be shared. ``LogLoad.prepare`` does once what concerns the data
directory: it makes what is missing and moves aside what belongs to no topic, with a single sync of the parent
for all of it. Then every log is opened by a job of its own, on any thread.

A directory is known by the topic id inside it, never by its name alone: a topic that was deleted and made
again must not adopt the records of its predecessor (disk rule 19).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from penstock.model.errors import InvariantError, StorageError
from penstock.model.ids import Millis, TopicId, TopicPartition
from penstock.storage.checkpoint_files import CheckpointFiles
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.partition_directory import is_deleted_name, parse_directory_name, stray_name
from penstock.storage.partition_metadata import (
    PARTITION_METADATA,
    partition_metadata_content,
    read_partition_metadata,
)
from penstock.storage.recovery_hints import RecoveryHints
from penstock.storage.segment import LOG_SUFFIX, file_name
from penstock.storage.tail_cache import TailCache

FIRST_LOG_FILE = file_name(0, LOG_SUFFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSpec:
    """A log that should be there."""

    partition: TopicPartition
    topic_id: TopicId
    config: LogConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadContext:
    """What all logs of one data directory share."""

    fs: FileSystem
    path: str
    checkpoints: CheckpointFiles
    tail_cache: TailCache | None
    new_uuid: Callable[[], bytes]
    now: Millis


class LoadJob:
    """Opens one log."""

    def __init__(
        self,
        context: LoadContext,
        spec: LogSpec,
        hints: RecoveryHints,
        vouched_sizes: Mapping[str, int] | None,
    ) -> None:
        self.spec = spec
        self.directory = join_path(context.path, str(spec.partition))
        #: Set by ``run``.
        self.log: Log | None = None
        #: Why the log cannot be opened, if that is known beforehand; ``run`` then raises it.
        self.problem: StorageError | None = None
        self._context = context
        self._hints = hints
        #: Sizes of the log files as the clean-stop marker has them; None without a marker.
        self._vouched_sizes = vouched_sizes
        self._is_new = False

    def run(self) -> Log:
        """Open the log, recovering it as far as needed."""
        if self.problem is not None:
            raise self.problem
        if self._is_new or not self.is_vouched_for:
            self._sync_directory()
        self.log = Log.open(
            self._context.fs,
            self.directory,
            self.spec.partition,
            self.spec.config,
            tail_cache=self._context.tail_cache,
            now=self._context.now,
            recovery=self._current_hints(),
        )
        return self.log

    @property
    def is_vouched_for(self) -> bool:
        """Whether the last process stopped in good order and knew this log."""
        return self._vouched_sizes is not None

    def make_directory(self, *, exists: bool) -> None:
        """Make the directory with its topic id and an empty first segment; nothing of it is synced yet."""
        fs = self._context.fs
        if not exists:
            fs.make_directory(self.directory)
        metadata = fs.open(join_path(self.directory, PARTITION_METADATA), create=True)
        metadata.truncate(0)
        metadata.write(0, [partition_metadata_content(self.spec.topic_id)])
        metadata.close()
        fs.open(join_path(self.directory, FIRST_LOG_FILE), create=True).close()
        self._is_new = True

    def log_file_sizes(self) -> dict[str, int]:
        """The sizes of the log files that are there, by name."""
        return log_file_sizes(self._context.fs, self.directory)

    def _sync_directory(self) -> None:
        """Make durable whose directory this is and what it holds.

        Names, like bytes, may be in the page cache only: a former process may have died over making
        them. An empty segment holds nothing to flush but its name.
        """
        fs = self._context.fs
        metadata = fs.open(join_path(self.directory, PARTITION_METADATA))
        metadata.flush()
        metadata.close()
        fs.sync_directory(self.directory)

    def _current_hints(self) -> RecoveryHints:
        if self._is_new:
            # Nothing can be wrong with an empty log, unless its topic is known to have had records.
            sealed_offset = self._hints.sealed_offset
            return RecoveryHints(clean=not sealed_offset, sealed_offset=sealed_offset)
        is_clean = self._vouched_sizes is not None and self._vouched_sizes == self.log_file_sizes()
        return replace(self._hints, clean=is_clean)


class LogLoad:
    """Many logs at once: ``prepare`` first, then every job, in any order and on any threads."""

    def __init__(
        self, context: LoadContext, jobs: list[LoadJob], *, known: Collection[TopicPartition] | None
    ) -> None:
        self.jobs = jobs
        #: Directories that were moved aside, by the names they had.
        self.strays: list[str] = []
        #: Directories that were not there and have been made.
        self.made: list[str] = []
        #: Directories that wait to be removed.
        self.deleted: list[str] = []
        #: Partitions that are open already; None when only the named ones are looked at.
        self.known = known
        self._context = context

    def run(self) -> None:
        """Everything, one after the other; for callers without threads."""
        self.prepare()
        for job in self.jobs:
            job.run()

    def prepare(self) -> None:
        """Look at the data directory, move strays aside, make what is missing, and sync once."""
        names = self._context.fs.list_directory(self._context.path)
        present = set(names)
        if self.known is not None:
            self._find_others(names, self.known)
        missing = [job for job in self.jobs if self._must_be_made(job, present)]
        self.made = [str(job.spec.partition) for job in missing]
        for name in self.strays:
            self._move_aside(name)
        # Before any directory is made: an old offset must never meet a new log.
        self._context.checkpoints.forget([job.spec.partition for job in missing])
        present.difference_update(self.strays)
        for job in missing:
            job.make_directory(exists=str(job.spec.partition) in present)
        if missing or self.strays or not all(job.is_vouched_for for job in self.jobs):
            self._context.fs.sync_directory(self._context.path)

    def _find_others(self, names: list[str], known: Collection[TopicPartition]) -> None:
        claimed = {*known, *(job.spec.partition for job in self.jobs)}
        for name in names:
            partition = parse_directory_name(name)
            if is_deleted_name(name):
                self.deleted.append(name)
            elif partition is not None and partition not in claimed and self._is_directory(name):
                self.strays.append(name)

    def _is_directory(self, name: str) -> bool:
        return self._context.fs.is_directory(join_path(self._context.path, name))

    def _must_be_made(self, job: LoadJob, present: set[str]) -> bool:
        """Whether there is no directory that is this log's."""
        name = str(job.spec.partition)
        if name not in present:
            return True
        topic_id = self._topic_id(job)
        if topic_id is None and any(job.log_file_sizes().values()):
            job.problem = StorageError(
                f"{job.directory} holds records, but its {PARTITION_METADATA} does not say whose. Restore "
                f"that file if they belong to {name}, or move the directory away to begin without them."
            )
            return False
        if topic_id is not None and topic_id != job.spec.topic_id:
            self.strays.append(name)
        return topic_id != job.spec.topic_id

    def _topic_id(self, job: LoadJob) -> TopicId | None:
        """Whose the directory is; None when nobody can tell, as after an interrupted making."""
        try:
            return read_partition_metadata(self._context.fs, job.directory)
        except StorageError:
            return None

    def _move_aside(self, name: str) -> None:
        partition = parse_directory_name(name)
        if partition is None:
            raise InvariantError(f"{name} is no partition's directory")
        target = stray_name(partition, self._context.new_uuid())
        self._context.fs.rename(join_path(self._context.path, name), join_path(self._context.path, target))


def log_file_sizes(fs: FileSystem, directory: str) -> dict[str, int]:
    """The sizes of the log files in a partition's directory, by name."""
    names = [name for name in fs.list_directory(directory) if name.endswith(LOG_SUFFIX)]
    return {name: fs.size(join_path(directory, name)) for name in names}
