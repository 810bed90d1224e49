"""Up to where compaction may have taken offsets out of a log (``compacted-offset``, in the log's directory).

A topic that is compacted may have gaps anywhere: a follower is given those of its leader. One that no longer
is may have them below this offset; at and above it a gap is damage. The offset is made durable before the
first compacted segment can be seen, and never goes down.

Our own compaction leaves no gap where two segments join, Kafka's does. Where nobody knows who compacted a
log, as in a directory that Kafka made, the file is missing, and segments need not join.
"""

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


NO_GAPS_AT_ALL = Gaps(NO_GAPS, NO_GAPS)
UNKNOWN_GAPS = Gaps(GAPS_ANYWHERE, GAPS_ANYWHERE)


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
