"""Putting what is derived from a log into its files: indexes, leader epochs, the producers' snapshot.

Nothing here is needed for safety; it saves reading the log at the next start. So a running log writes it
now and then without flushing the indexes, and a log that is closed writes all of it durably.
"""

from typing import NamedTuple

from penstock.storage.atomic_file import replace_file
from penstock.storage.checkpoints import EpochStart
from penstock.storage.derived_state import write_leader_epochs
from penstock.storage.filesystem import FileSystem
from penstock.storage.producer_snapshot import snapshot_path
from penstock.storage.segment import Segment
from penstock.storage.sparse_index import IndexWrite


class Snapshot(NamedTuple):
    """The producers' state at ``offset``, encoded."""

    offset: int
    data: bytes


class CheckpointJob:
    """Captured on the loop, run on any thread."""

    __slots__ = ("_directory", "_filesystem", "_is_final", "epochs", "index_writes", "snapshot", "trimmed")

    def __init__(self, filesystem: FileSystem, directory: str, *, is_final: bool) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._is_final = is_final
        self.index_writes: list[tuple[Segment, list[IndexWrite]]] = []
        self.epochs: tuple[EpochStart, ...] | None = None
        self.snapshot: Snapshot | None = None
        #: A segment whose file may be longer than its batches.
        self.trimmed: Segment | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.index_writes and self.epochs is None and self.snapshot is None

    def run(self) -> None:
        """Write everything; durably if the log is being closed. Blocks."""
        if self.trimmed is not None and self.trimmed.file.size() > self.trimmed.size:
            self.trimmed.file.truncate(self.trimmed.size)
            self.trimmed.file.flush()
        for _, writes in self.index_writes:
            for write in writes:
                write.run(self._filesystem)
        if self.snapshot is not None:
            path = snapshot_path(self._directory, self.snapshot.offset)
            replace_file(self._filesystem, path, self.snapshot.data)
        if self.epochs is not None:
            write_leader_epochs(self._filesystem, self._directory, self.epochs)
        if self._is_final:
            self._filesystem.sync_directory(self._directory)
