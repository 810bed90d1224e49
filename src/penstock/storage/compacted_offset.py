"""Up to where compaction may have taken offsets out of a log (``compacted-offset``, in the log's directory).

Below it batches may leave gaps; at and above it a gap is damage. It is made durable before the first
compacted segment can be seen, and never goes down. So the check stays strict where compaction never was,
also in a topic that is no longer compacted. Where the file is missing, as in a directory that Kafka made,
the topic's setting decides for the whole log.
"""

from penstock.storage.atomic_file import write_atomically
from penstock.storage.batch_scan import GAPS_ANYWHERE, NO_GAPS
from penstock.storage.filesystem import FileSystem, join_path

COMPACTED_OFFSET = "compacted-offset"

_VERSION = "0"
_FILE_BYTES_MAX = 32


def write_compacted_offset(filesystem: FileSystem, directory: str, offset: int) -> None:
    """Allow gaps below ``offset``, durably."""
    content = f"{_VERSION}\n{offset}\n".encode()
    write_atomically(filesystem, join_path(directory, COMPACTED_OFFSET), content)


def read_gaps_below(filesystem: FileSystem, directory: str, *, is_compacted: bool) -> int:
    """Where the strict part begins; a file that cannot be read allows gaps anywhere."""
    path = join_path(directory, COMPACTED_OFFSET)
    if not filesystem.exists(path):
        return GAPS_ANYWHERE if is_compacted else NO_GAPS
    if filesystem.size(path) > _FILE_BYTES_MAX:
        return GAPS_ANYWHERE
    version, _, offset = filesystem.read_file(path).decode("ascii", "replace").strip().partition("\n")
    if version != _VERSION or not offset.isdigit():
        return GAPS_ANYWHERE
    return int(offset)
