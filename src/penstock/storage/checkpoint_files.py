"""The offset checkpoints of a data directory: recovery points, log starts, high watermarks, compaction.

They are keyed by name, and names come back: a topic deleted and made again would find its predecessor's
offsets, and an empty log would look like one that lost its records. So a name is *forgotten* here, durably,
before a new directory of that name is made, and a table captured before that cannot bring it back.

Jobs on several threads write these files; a lock keeps them from each other's temporary files.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from penstock.model.ids import Offset, TopicPartition
from penstock.storage.checkpoints import (
    CLEANED_OFFSET_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    read_offset_checkpoint,
    replace_offset_checkpoint,
)
from penstock.storage.disk_room import DiskRoom
from penstock.storage.filesystem import FileSystem, join_path

Offsets = Mapping[TopicPartition, Offset]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetTables:
    """One moment's offsets of all logs. All of them may lag behind the truth, none may be ahead of it."""

    recovery_points: Offsets = field(default_factory=dict)
    log_starts: Offsets = field(default_factory=dict)
    high_watermarks: Offsets = field(default_factory=dict)
    cleaned_offsets: Offsets = field(default_factory=dict)
    """Everything below has been compacted."""

    def without(self, partitions: Collection[TopicPartition]) -> "OffsetTables":
        """The tables with nothing about these partitions."""
        return OffsetTables(
            recovery_points=_without(self.recovery_points, partitions),
            log_starts=_without(self.log_starts, partitions),
            high_watermarks=_without(self.high_watermarks, partitions),
            cleaned_offsets=_without(self.cleaned_offsets, partitions),
        )

    def only(self, partitions: Collection[TopicPartition]) -> "OffsetTables":
        """The tables with nothing about others."""
        return OffsetTables(
            recovery_points=_only(self.recovery_points, partitions),
            log_starts=_only(self.log_starts, partitions),
            high_watermarks=_only(self.high_watermarks, partitions),
            cleaned_offsets=_only(self.cleaned_offsets, partitions),
        )

    def mention(self, partition: TopicPartition) -> bool:
        """Whether there is anything about the partition."""
        tables = (self.recovery_points, self.log_starts, self.high_watermarks, self.cleaned_offsets)
        return any(partition in table for table in tables)


class CheckpointFiles:
    """The files, and what they hold. All methods but ``next_moment`` block."""

    def __init__(self, fs: FileSystem, directory: str, room: DiskRoom) -> None:
        self._fs = fs
        self._directory = directory
        self._room = room
        self._lock = Lock()
        self._moments = count(1)
        self._written_moment = 0
        #: Names forgotten, and when: tables captured before that have nothing to say about them.
        self._forgotten: dict[TopicPartition, int] = {}
        self.written = OffsetTables(
            recovery_points=self._read(RECOVERY_POINT_CHECKPOINT),
            log_starts=self._read(LOG_START_CHECKPOINT),
            high_watermarks=self._read(HIGH_WATERMARK_CHECKPOINT),
            cleaned_offsets=self._read(CLEANED_OFFSET_CHECKPOINT),
        )

    def next_moment(self) -> int:
        """To be taken when tables are captured, and given to ``write`` with them."""
        return next(self._moments)

    def write(self, tables: OffsetTables, *, moment: int) -> None:
        """Make the tables durable, unless newer ones are, and but for names forgotten since their capture."""
        with self._lock:
            if moment < self._written_moment:
                return
            stale = {name: since for name, since in self._forgotten.items() if since > moment}
            self._replace(tables.without(stale) if stale else tables)
            self._written_moment = moment
            self._forgotten = stale

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Make durable that nothing is known about these names: their logs begin anew."""
        with self._lock:
            self._forgotten.update(dict.fromkeys(partitions, next(self._moments)))
            mentioned = [name for name in partitions if self.written.mention(name)]
            if mentioned:
                self._replace(self.written.without(mentioned))

    def _replace(self, tables: OffsetTables) -> None:
        self._room.use_reserve(lambda: self._replace_changed(tables))
        self.written = tables

    def _replace_changed(self, tables: OffsetTables) -> None:
        changed = [
            (RECOVERY_POINT_CHECKPOINT, tables.recovery_points, self.written.recovery_points),
            (LOG_START_CHECKPOINT, tables.log_starts, self.written.log_starts),
            (HIGH_WATERMARK_CHECKPOINT, tables.high_watermarks, self.written.high_watermarks),
            (CLEANED_OFFSET_CHECKPOINT, tables.cleaned_offsets, self.written.cleaned_offsets),
        ]
        is_changed = False
        for name, table, written in changed:
            if table != written:
                replace_offset_checkpoint(self._fs, join_path(self._directory, name), table)
                is_changed = True
        if is_changed:
            self._fs.sync_directory(self._directory)

    def _read(self, name: str) -> Offsets:
        return read_offset_checkpoint(self._fs, join_path(self._directory, name)) or {}


def _without(table: Offsets, partitions: Collection[TopicPartition]) -> Offsets:
    gone = set(partitions)
    return {partition: offset for partition, offset in table.items() if partition not in gone}


def _only(table: Offsets, partitions: Collection[TopicPartition]) -> Offsets:
    return {partition: table[partition] for partition in partitions if partition in table}
