"""Up to where compaction may have taken offsets out of a log (``compacted-offset``, in the log's directory).

A topic that is compacted may have gaps anywhere. One that no longer is may have them below this offset; at
and above it a gap is damage. Gaps come from compaction here, or with the batches of a leader whose log was
compacted, by whatever policy the topic has when they are copied. The offset is made durable before the first
compacted segment can be seen or the first such batch is written, and goes down only when the log begins
anew.

Our own compaction leaves no gap where two segments join, Kafka's does. Where nobody knows who compacted a
log, as in a directory that Kafka made, the file is missing, and segments need not join.
"""

from threading import Lock
from typing import NamedTuple

from penstock.storage.atomic_file import write_atomically
from penstock.storage.batch_scan import GAPS_ANYWHERE, NO_GAPS
from penstock.storage.filesystem import FileSystem, join_path

COMPACTED_OFFSET = "compacted-offset"

_VERSION = "0"
_FILE_BYTES_MAX = 64


class Gaps(NamedTuple):
    """Where offsets may be missing."""

    below: int
    """Between batches, below this offset."""
    joints_below: int
    """Also between segments, below this one; never above the other."""

    def joined(self, other: "Gaps") -> "Gaps":
        """What both of them allow."""
        return Gaps(max(self.below, other.below), max(self.joints_below, other.joints_below))


NO_GAPS_AT_ALL = Gaps(NO_GAPS, NO_GAPS)
UNKNOWN_GAPS = Gaps(GAPS_ANYWHERE, GAPS_ANYWHERE)


class GapsFile:
    """The file of one log. A flush and a swap of segments may both want it wider, on two threads."""

    __slots__ = ("_directory", "_filesystem", "_lock", "known")

    def __init__(self, filesystem: FileSystem, directory: str, known: Gaps) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._lock = Lock()
        #: What the disk allows; ``UNKNOWN_GAPS`` where it has nothing to say.
        self.known = known

    def lacks(self, offset: int) -> bool:
        """Whether the disk does not say yet that there may be a gap before ``offset``."""
        return self.known == UNKNOWN_GAPS or offset >= self.known.below

    def widen(self, gaps: Gaps) -> None:
        """Allow these gaps too, durably. Blocks."""
        with self._lock:
            wider = gaps if self.known == UNKNOWN_GAPS else gaps.joined(self.known)
            if wider != self.known:
                write_gaps(self._filesystem, self._directory, wider)
                self.known = wider


class GapsWidening(NamedTuple):
    """What a job has to write down before it makes gaps."""

    file: GapsFile
    gaps: Gaps

    def run(self) -> None:
        """Write it down, durably; once is enough. Blocks."""
        self.file.widen(self.gaps)


def write_gaps(filesystem: FileSystem, directory: str, gaps: Gaps) -> None:
    """Allow these gaps, durably."""
    content = f"{_VERSION}\n{gaps.below}\n{gaps.joints_below}\n".encode()
    write_atomically(filesystem, join_path(directory, COMPACTED_OFFSET), content)


def read_gaps(filesystem: FileSystem, directory: str, *, is_compacted: bool) -> Gaps:
    """Which gaps are allowed; a file that cannot be read allows all."""
    path = join_path(directory, COMPACTED_OFFSET)
    if not filesystem.exists(path):
        return UNKNOWN_GAPS if is_compacted else NO_GAPS_AT_ALL
    if filesystem.size(path) > _FILE_BYTES_MAX:
        return UNKNOWN_GAPS
    words = filesystem.read_file(path).decode("ascii", "replace").split()
    if len(words) != 1 + len(Gaps._fields) or words[0] != _VERSION or not all(map(str.isdigit, words)):
        return UNKNOWN_GAPS
    return Gaps(*map(int, words[1:]))
