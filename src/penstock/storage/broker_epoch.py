"""``broker-epoch``: the epoch of the broker's last registration.

A broker that comes back names it, and so proves that its disk is the one that took part until then: nothing
it had acknowledged is lost, and it stays eligible where it was. A directory without it, as a new one or one
from before the last registration, proves nothing, and everything counts as lost (see decision 14).

So a file that cannot be read counts as none, and one that lags behind does no harm either: the controller
knows the right epoch. Format, big-endian: version i16, epoch i64, CRC-32C u32 of both.
"""

from struct import Struct

from penstock.records.checksum import crc32c
from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

BROKER_EPOCH_FILE = "broker-epoch"

_VERSION = 0
_FACTS = Struct(">hq")
_CHECKSUM = Struct(">I")
_FILE_BYTES = _FACTS.size + _CHECKSUM.size


def read_broker_epoch(fs: FileSystem, directory: str) -> int | None:
    """The epoch of the last registration; None when nobody can tell. Blocks."""
    path = join_path(directory, BROKER_EPOCH_FILE)
    if not fs.exists(path) or fs.size(path) != _FILE_BYTES:
        return None
    content = fs.read_file(path)
    version, epoch = _FACTS.unpack_from(content)
    return int(epoch) if version == _VERSION and content == _content(epoch) else None


def write_broker_epoch(fs: FileSystem, directory: str, epoch: int) -> None:
    """Remember a registration, durably, before anything is acknowledged under it. Blocks."""
    write_atomically(fs, join_path(directory, BROKER_EPOCH_FILE), _content(epoch))


def _content(epoch: int) -> bytes:
    facts = _FACTS.pack(_VERSION, epoch)
    return facts + _CHECKSUM.pack(crc32c(facts))
