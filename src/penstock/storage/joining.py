"""``joining``: the id under which an empty data directory asks to become part of a cluster.

A cluster knows a joiner by its directory's id, and gives the same id the same node. So the id is durable
before it is first offered: whoever asks, dies and asks again is still the same, and no node id is lost. Once
the cluster has answered, ``LogDirectory.open`` gives the directory its identity, and the file goes.

Format: a line with version, id and CRC-32C, for people to read. A file that cannot be read counts as none:
the directory is empty, so that somebody new has nothing to answer for.
"""

from collections.abc import Callable

from penstock.model.errors import InvariantError
from penstock.model.ids import uuid_from_text, uuid_to_text
from penstock.records.checksum import crc32c
from penstock.storage.atomic_file import write_atomically
from penstock.storage.directory_identity import JOINING_FILE, LOCK_FILE, make_directories, sync_names
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.meta_properties import read_meta_properties

_VERSION = "0"
_FILE_BYTES_MAX = 256


def offered_directory_id(fs: FileSystem, path: str, new_uuid: Callable[[], bytes]) -> bytes:
    """The id that the directory offers; made now, with the directory, if it has none yet. Blocks."""
    make_directories(fs, path)
    lock = fs.lock(join_path(path, LOCK_FILE))
    try:
        if read_meta_properties(fs, path) is not None:
            raise InvariantError(f"{path} has an identity and cannot be offered under another")
        sync_names(fs, path)
        offered = _read(fs, path)
        if offered is None:
            offered = new_uuid()
            write_atomically(fs, join_path(path, JOINING_FILE), _line(offered))
        else:
            # The process that wrote it may have died before its name was durable.
            fs.sync_directory(path)
        return offered
    finally:
        lock.release()


def _line(directory_id: bytes) -> bytes:
    return f"{_VERSION} {uuid_to_text(directory_id)} {crc32c(directory_id):08x}\n".encode()


def _read(fs: FileSystem, path: str) -> bytes | None:
    file_path = join_path(path, JOINING_FILE)
    if not fs.exists(file_path) or fs.size(file_path) > _FILE_BYTES_MAX:
        return None
    content = fs.read_file(file_path)
    try:
        directory_id = uuid_from_text(content.decode("ascii").split()[1])
    except (ValueError, IndexError):
        return None
    return directory_id if content == _line(directory_id) else None
