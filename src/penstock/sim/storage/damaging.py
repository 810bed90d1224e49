"""Turning a durable bit over, and knowing whose byte it was.

One bit of each log at most: what two do together, no single copy can be asked to tell.
"""

from penstock.sim.storage.model import Damaged, Entry, PartitionModel
from penstock.sim.storage.plan import Damage
from penstock.storage.filesystem import join_path
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.seal import SEAL_FILE
from penstock.storage.segment import LOG_SUFFIX

_LEADER_EPOCH_BYTES = range(12, 16)
"""Outside the checksum, and any value not below the last one's is a good one: nobody can tell."""


def damage_file(
    disk: MemoryFileSystem, directory: str, damage: Damage, models: list[PartitionModel]
) -> str | None:
    """Do what the plan says to one file, if there is one; answers what was done."""
    paths = [path for path in _files(disk, directory) if path.endswith(damage.suffix) and disk.size(path)]
    if not paths:
        return None
    path = paths[int(damage.file_portion * len(paths))]
    position = min(int(damage.byte_portion * disk.size(path)), disk.size(path) - 1)
    if path.endswith(SEAL_FILE):
        for model in models:
            model.sealed_end = 0  # Two kinds of rot at once: who saw the first may not know of the second.
    if damage.suffix != LOG_SUFFIX:
        return f"bit flipped in byte {position} of {path}" if _flip(disk, path, position) else None
    for model in models:
        entry = None if model.damages else _entry_of(disk, path, position, model)
        if entry is not None and _flip(disk, path, position):
            model.damages.append(Damaged(entry.base_offset, path, position))
            return f"bit flipped in byte {position} of {path}, in the batch at offset {entry.base_offset}"
    return None


def _flip(disk: MemoryFileSystem, path: str, position: int) -> bool:
    try:
        disk.flip_bit(path, position)
    except IndexError:
        return False  # That byte is in the page cache only, and has not been on the platter yet.
    return True


def _files(disk: MemoryFileSystem, directory: str) -> list[str]:
    found: list[str] = []
    if not disk.exists(directory):
        return found
    for name in disk.list_directory(directory):
        path = join_path(directory, name)
        found += _files(disk, path) if disk.is_directory(path) else [path]
    return found


def _entry_of(disk: MemoryFileSystem, path: str, position: int, model: PartitionModel) -> Entry | None:
    """The acknowledged batch that owns a byte: by the book, not by what the file says."""
    directory, _, name = path.rpartition("/")
    if not directory.endswith(f"-{model.number}"):
        return None
    at = 0
    base_offset = int(name.removesuffix(LOG_SUFFIX))
    for entry in model.entries:
        if entry.base_offset < base_offset or entry.next_offset > model.acknowledged_end:
            continue
        if at <= position < at + len(entry.data):
            is_hopeless = position - at in _LEADER_EPOCH_BYTES
            return None if is_hopeless or not _holds(disk, path, at, entry) else entry
        at += len(entry.data)
    return None


def _holds(disk: MemoryFileSystem, path: str, position: int, entry: Entry) -> bool:
    """Whether the batch really is there and sound."""
    return disk.read_file(path)[position : position + len(entry.data)] == entry.data
