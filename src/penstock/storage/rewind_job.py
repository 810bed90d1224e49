"""Bringing a log's files back to a border, after a write that failed or an order to truncate.

Segments behind the border go first, newest first, and durably: whatever happens between, the rest is a
gapless log. Then the file is cut and flushed (disk rule 20), and the producers' state is read again from
what is left. Nothing is written, since the disk may be full.
"""

from penstock.storage.deletion_job import rename_to_deleted, segment_paths
from penstock.storage.derived_state import LogBorder, load_producers, remove_leader_epochs
from penstock.storage.filesystem import FileSystem
from penstock.storage.leftovers import DirectoryListing
from penstock.storage.producer_snapshot import snapshot_path
from penstock.storage.producer_state import ProducerStates
from penstock.storage.segment import Segment


class RewindJob:
    """Captured on the loop, run on any thread, repeated if it fails."""

    __slots__ = (
        "_border",
        "_directory",
        "_filesystem",
        "_removed_segments",
        "producers",
        "removes_epochs",
        "snapshot_offsets",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        border: LogBorder,
        *,
        removed_segments: list[Segment],
        snapshot_offsets: set[int],
        removes_epochs: bool,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._border = border
        self._removed_segments = removed_segments
        #: Whether the epochs' checkpoint names some that are cut off.
        self.removes_epochs = removes_epochs
        #: The snapshots that remain.
        self.snapshot_offsets = {offset for offset in snapshot_offsets if offset <= border.offset}
        #: The state at the border, once the job has run.
        self.producers: ProducerStates | None = None

    def run(self) -> None:
        """Cut the files and read what is left. Blocks."""
        for segment in reversed(self._removed_segments):
            for path in rename_to_deleted(self._filesystem, segment_paths(segment)):
                self._filesystem.unlink(path)
        self._remove_snapshots()
        if self.removes_epochs:
            remove_leader_epochs(self._filesystem, self._directory)
        self._filesystem.sync_directory(self._directory)
        file = self._border.segments[-1].file
        file.truncate(self._border.position)
        file.flush()
        self.producers = load_producers(
            self._filesystem, self._directory, self.snapshot_offsets, self._border
        )

    def close_removed(self) -> None:
        """Let go of the files that went; on the loop, where nobody can be in the middle of sending one."""
        for segment in self._removed_segments:
            segment.close()

    def _remove_snapshots(self) -> None:
        """Also one that a failed job wrote and nobody took note of."""
        listing = DirectoryListing(self._filesystem.list_directory(self._directory))
        for offset in listing.snapshot_offsets:
            if offset > self._border.offset:
                self._filesystem.unlink(snapshot_path(self._directory, offset))
