"""``broker-epoch``: the last registration from this directory.

A broker that comes back names the epoch of its predecessor, and so proves that its disk is the one that took
part until then: nothing it had acknowledged is lost, and it stays eligible where it was. A directory without
it, as a new one or one from before the last registration, proves nothing, and everything counts as lost (see
decision 14). Since a process may die between being registered and writing down its epoch, it writes down its
own name first: by it the next one finds the epoch in the metadata log.

A file that cannot be read counts as none, and one that lags behind does no harm either: the controller knows
the right epoch. Format, big-endian: version i16, epoch i64, 16 bytes of incarnation id, CRC-32C u32 of all.
"""

from dataclasses import dataclass
from struct import Struct

from penstock.records.checksum import crc32c
from penstock.storage.atomic_file import write_atomically
from penstock.storage.filesystem import FileSystem, join_path

BROKER_EPOCH_FILE = "broker-epoch"
UNKNOWN_EPOCH = -1
NO_INCARNATION = bytes(16)

_VERSION = 0
_FACTS = Struct(">hq16s")
_CHECKSUM = Struct(">I")
_FILE_BYTES = _FACTS.size + _CHECKSUM.size


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRegistration:
    """What is remembered; of a directory that only joined, nothing in particular."""

    #: Of the last registration that is known to have succeeded.
    epoch: int = UNKNOWN_EPOCH
    #: Of the last process that tried to register.
    incarnation_id: bytes = NO_INCARNATION


def read_last_registration(fs: FileSystem, directory: str) -> LastRegistration | None:
    """The last registration; None when nobody can tell. Blocks."""
    path = join_path(directory, BROKER_EPOCH_FILE)
    if not fs.exists(path) or fs.size(path) != _FILE_BYTES:
        return None
    content = fs.read_file(path)
    version, epoch, incarnation_id = _FACTS.unpack_from(content)
    last = LastRegistration(epoch=epoch, incarnation_id=incarnation_id)
    return last if version == _VERSION and content == _content(last) else None


def write_last_registration(fs: FileSystem, directory: str, last: LastRegistration) -> None:
    """Remember a registration, durably, before anything is acknowledged under it. Blocks."""
    write_atomically(fs, join_path(directory, BROKER_EPOCH_FILE), _content(last))


def has_been_member(fs: FileSystem, directory: str) -> bool:
    """Whether the directory was ever registered, or has joined a cluster; it must then never begin one."""
    return fs.exists(join_path(directory, BROKER_EPOCH_FILE))


def _content(last: LastRegistration) -> bytes:
    facts = _FACTS.pack(_VERSION, last.epoch, last.incarnation_id)
    return facts + _CHECKSUM.pack(crc32c(facts))
