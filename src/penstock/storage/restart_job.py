"""Letting a log begin anew on the disk: one name decides, so that there is never half of the old log.

The new first segment is made under a waiting name (``.restart``), which also says where the log begins. Once
that name is durable the old log is gone, whoever finishes the work: this job or the next start
(``leftovers``). Then all files of the old log go, and last the segment takes its final name. Before, there is
the old log, whole.
"""

from penstock.model.errors import InvariantError
from penstock.storage.filesystem import File, FileSystem
from penstock.storage.flush_job import create_segment_file
from penstock.storage.leftovers import RESTART_SUFFIX, complete_restart
from penstock.storage.segment import Segment


class RestartJob:
    """Captured on the loop, run on any thread, repeated if it fails."""

    __slots__ = ("_dropped", "_file", "_filesystem", "_first", "_preallocated_bytes")

    def __init__(
        self, filesystem: FileSystem, first: Segment, dropped: list[Segment], *, preallocated_bytes: int
    ) -> None:
        self._filesystem = filesystem
        self._first = first
        self._dropped = dropped
        self._preallocated_bytes = preallocated_bytes
        # The new segment's, once the job has run.
        self._file: File | None = None

    def run(self) -> None:
        """Make the new beginning, and remove everything else. Blocks."""
        path = self._first.path(RESTART_SUFFIX)
        create_segment_file(self._filesystem, path, self._preallocated_bytes).close()
        complete_restart(self._filesystem, self._first.directory)
        self._file = self._filesystem.open(self._first.path())

    def enter(self) -> None:
        """On the loop, where nobody can be in the middle of sending an old file: go over to the new one."""
        if self._file is None:
            raise InvariantError(f"{self._first} is to be used before it was made")
        for segment in self._dropped:
            segment.close()
        self._first.adopt(self._file)
