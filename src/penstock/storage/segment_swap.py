"""Putting a compacted segment in the place of those it was made from, so that a crash leaves old or new.

Four steps (disk rule 43), each repeatable by the next start:

1. ``commit``: the finished ``.cleaned`` files are renamed to ``.swap``, indexes first and durably, then the
   log. From here on a start completes the swap; before, it removes what it finds.
2. in memory, on the loop: readers are given the new segment. Whoever reads an old one has its file open.
3. ``complete``: the old files are renamed to ``.deleted``, the new ones to their final names.
4. ``remove``, a while later: the old files are closed and removed.
"""

from penstock.storage.cleaned_segment import CleanedSegment
from penstock.storage.compacted_offset import GapsWidening
from penstock.storage.deletion_job import rename_to_deleted, segment_paths
from penstock.storage.filesystem import FileSystem, PathMissingError
from penstock.storage.leftovers import CLEANED_SUFFIX, SWAP_SUFFIX
from penstock.storage.producer_snapshot import snapshot_path
from penstock.storage.segment import INDEX_SUFFIXES, LOG_SUFFIX, Segment


class SegmentSwap:
    """One swap. Its methods block."""

    __slots__ = (
        "_are_old_away",
        "_deleted",
        "_directory",
        "_filesystem",
        "_old_files",
        "cleaned",
        "delay_ms",
        "gaps",
        "old_segments",
    )

    def __init__(
        self,
        filesystem: FileSystem,
        directory: str,
        cleaned: CleanedSegment,
        old_segments: list[Segment],
        *,
        gaps: GapsWidening | None,
        delay_ms: int,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self.cleaned = cleaned
        self.old_segments = old_segments
        #: To be written down first: where there may be gaps from now on. None when that is known.
        self.gaps = gaps
        #: How long to wait between ``complete`` and ``remove``.
        self.delay_ms = delay_ms
        self._deleted: list[str] = []
        self._are_old_away = False
        # Opened now: by name, later, each would be another.
        self._old_files = [segment.file for segment in old_segments]

    def commit(self) -> None:
        """Decide, durably, that the new segment takes the place of the old ones."""
        if self.gaps is not None:
            self.gaps.run()
        for suffix in INDEX_SUFFIXES:
            self._rename(suffix + CLEANED_SUFFIX, suffix + SWAP_SUFFIX)
        self._filesystem.sync_directory(self._directory)
        self._rename(LOG_SUFFIX + CLEANED_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX)
        self._filesystem.sync_directory(self._directory)

    def complete(self) -> None:
        """Give all files the names that fit; after a failure it can be repeated."""
        if not self._are_old_away:
            for segment in self.old_segments:
                paths = [*segment_paths(segment), snapshot_path(self._directory, segment.base_offset)]
                self._deleted += rename_to_deleted(self._filesystem, paths)
            self._are_old_away = True
        for suffix in INDEX_SUFFIXES:
            if self._is_waiting(suffix):
                self._rename(suffix + SWAP_SUFFIX, suffix)
        self._filesystem.sync_directory(self._directory)
        if self._is_waiting(LOG_SUFFIX):
            self._rename(LOG_SUFFIX + SWAP_SUFFIX, LOG_SUFFIX)
        self._filesystem.sync_directory(self._directory)

    def remove(self) -> None:
        """Let go of the old files; nobody may be reading them any more."""
        for segment in self.old_segments:
            segment.close()
        for path in self._deleted:
            try:
                self._filesystem.unlink(path)
            except PathMissingError:
                # A later swap used the same name, and has removed it; or the topic is gone.
                continue
        self._deleted = []

    def _is_waiting(self, suffix: str) -> bool:
        return self._filesystem.exists(self.cleaned.segment.path(suffix) + SWAP_SUFFIX)

    def _rename(self, old_suffix: str, new_suffix: str) -> None:
        segment = self.cleaned.segment
        self._filesystem.rename(segment.path(old_suffix), segment.path(new_suffix))
