"""``.kafka_cleanshutdown``: the sign that everything was flushed before the broker last stopped.

It is written last at shutdown and removed, durably, before anything is written after the next start: a marker
that survives into a crash would vouch for a torn log. Ours also lists every log file's size, so that a start
can tell whether the files are still the ones that were vouched for. Kafka reads the same file and skips what
it does not know. A marker that cannot be read counts as none: recovery is slower, never wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"
UNKNOWN_BROKER_EPOCH = -1

_VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanShutdown:
    """What the broker knew when it stopped in good order."""

    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    #: Size of each log file by its path inside the data directory (``orders-0/00000000000000000000.log``).
    file_sizes: Mapping[str, int] = field(default_factory=dict)


def read_clean_shutdown(fs: FileSystem, directory: str) -> CleanShutdown | None:
    """The marker, or None when the last stop was not clean or nobody can tell."""
    path = join_path(directory, CLEAN_SHUTDOWN_FILE)
    if not fs.exists(path):
        return None
    try:
        return _parse(json.loads(fs.read_file(path)))
    except ValueError:
        return None


def write_clean_shutdown(fs: FileSystem, directory: str, marker: CleanShutdown) -> None:
    """Vouch for the files as they are; the caller has flushed all of them."""
    content = {
        "version": _VERSION,
        "brokerEpoch": marker.broker_epoch,
        "files": dict(sorted(marker.file_sizes.items())),
    }
    write_atomically(fs, join_path(directory, CLEAN_SHUTDOWN_FILE), json.dumps(content).encode())


def remove_clean_shutdown(fs: FileSystem, directory: str) -> None:
    """Take the marker away, durably: from now on files change."""
    path = join_path(directory, CLEAN_SHUTDOWN_FILE)
    if fs.exists(path):
        fs.unlink(path)
        fs.sync_directory(directory)


def _parse(content: object) -> CleanShutdown | None:
    match content:
        case {"version": 0, "brokerEpoch": int(broker_epoch), "files": dict(files)}:
            if all(isinstance(size, int) for size in files.values()):
                return CleanShutdown(broker_epoch=broker_epoch, file_sizes=files)
    return None
