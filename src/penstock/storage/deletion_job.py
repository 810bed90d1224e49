"""Taking whole segments out of a log's directory.

In two steps, because readers may still be sending bytes of those files: first their names end in
``.deleted``, which a start removes, and some time later they go. Before the first step the data directory
must have made the new log start durable (disk rule 18), or a power loss could leave a log that begins
before its first file.
"""

from collections.abc import Iterable

from penstock.storage.filesystem import FileSystem, PathMissingError
from penstock.storage.leftovers import DELETED_SUFFIX
from penstock.storage.producer_snapshot import snapshot_path
from penstock.storage.segment import INDEX_SUFFIXES, LOG_SUFFIX, Segment


class DeletionJob:
    """Segments that are no longer part of their log."""

    __slots__ = ("_directory", "_filesystem", "_paths", "_segments", "delay_ms", "log_start_offset")

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        segments: list[Segment],
        *,
        log_start_offset: int,
        delay_ms: int,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._segments = segments
        self._paths: list[str] = []
        #: To be checkpointed before ``run``.
        self.log_start_offset = log_start_offset
        #: How long to wait between ``run`` and ``remove``.
        self.delay_ms = delay_ms

    @property
    def segment_count(self) -> int:
        """How many segments go."""
        return len(self._segments)

    @property
    def size_bytes(self) -> int:
        """How much room they take."""
        return sum(segment.size for segment in self._segments)

    def run(self) -> None:
        """Rename the files, oldest segment first, durably; after a failure it can be repeated. Blocks."""
        for segment in self._segments:
            for path in (*segment_paths(segment), snapshot_path(self._directory, segment.base_offset)):
                # One by one: what has its new name already is not found again.
                self._paths += rename_to_deleted(self._filesystem, [path])
        self._filesystem.sync_directory(self._directory)

    def remove(self) -> None:
        """Let go of the files and remove them; nobody may be reading them any more. Blocks."""
        for segment in self._segments:
            segment.close()
        for path in self._paths:
            try:
                self._filesystem.unlink(path)
            except PathMissingError:
                # A log that began anew at an old offset used the same name, and has removed it.
                continue
        self._paths = []


def segment_paths(segment: Segment) -> list[str]:
    """All files that a segment may have, its log file first."""
    return [segment.path(suffix) for suffix in (LOG_SUFFIX, *INDEX_SUFFIXES)]


def rename_to_deleted(filesystem: FileSystem, paths: Iterable[str]) -> list[str]:
    """Give those that exist the ending of deleted files; answers their new names."""
    renamed = []
    for path in paths:
        try:
            filesystem.rename(path, path + DELETED_SUFFIX)
        except PathMissingError:
            # Indexes and snapshots need not be there.
            continue
        renamed.append(path + DELETED_SUFFIX)
    return renamed
