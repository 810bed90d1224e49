"""Deleting logs in two steps: out of sight at once, off the disk later.

The first step renames the directories and syncs their parent, so that the names are free for a new topic and
the deletion is durable. The second removes the files, a while later, when nobody can still be reading them;
if the process dies before, the next one finds the parting names and goes on (disk rule 18).
"""

from dataclasses import dataclass

from penstock.model.ids import Millis
from penstock.storage.checkpoint_job import CheckpointJob
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.log import Log


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedLog:
    """A directory under its parting name, and when its files may go."""

    name: str
    due_at: Millis
    #: Still holds files open; None when a former process deleted it.
    log: Log | None


class DeleteJob:
    """Takes directories out of sight, durably."""

    def __init__(self, fs: FileSystem, path: str, renames: list[tuple[str, DeletedLog]]) -> None:
        self._fs = fs
        self._path = path
        self._renames = renames

    @property
    def deleted(self) -> list[DeletedLog]:
        """What will have been deleted."""
        return [deleted for _, deleted in self._renames]

    def run(self) -> None:
        """Rename all, then sync once."""
        for name, deleted in self._renames:
            self._fs.rename(join_path(self._path, name), join_path(self._path, deleted.name))
        self._fs.sync_directory(self._path)


class RemovalJob:
    """Removes the files of deleted logs. Nothing is synced: what comes back is removed again."""

    def __init__(self, fs: FileSystem, path: str, deleted: list[DeletedLog]) -> None:
        self._fs = fs
        self._path = path
        self._names = [each.name for each in deleted]
        for each in deleted:
            if each.log is not None:
                # Its files are closed as they are: nothing of a deleted log is worth writing.
                each.log.finish_close(CheckpointJob(fs, each.log.directory, is_final=False))

    def run(self) -> None:
        """Remove all of them."""
        for name in self._names:
            self._remove(join_path(self._path, name))

    def _remove(self, directory: str) -> None:
        for name in self._fs.list_directory(directory):
            self._fs.unlink(join_path(directory, name))
        self._fs.remove_directory(directory)
