"""Tidying a partition's directory before it is opened: what an interrupted step of a former process left.

``.tmp``, ``.cleaned`` and ``.deleted`` files go. A ``.log.swap`` file is the finished outcome of a
compaction, so its step is completed: the segments it replaces go, and it takes its final name. It replaces
all that begin up to its last offset, because compaction keeps the last batch of what it replaces. A
``.restart`` file is the empty first segment of a log that was told to begin anew: everything else of the log
goes, and it takes its final name. Index files without a log file go too. Everything here may be interrupted
and repeated.
"""

import re

from penstock.model.errors import CorruptLogError
from penstock.storage.batch_scan import GAPS_ANYWHERE, Continuity, walk
from penstock.storage.checkpoints import LEADER_EPOCH_CHECKPOINT
from penstock.storage.compacted_offset import COMPACTED_OFFSET
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.producer_snapshot import SUFFIX as SNAPSHOT_SUFFIX
from penstock.storage.segment import INDEX_SUFFIXES, LOG_SUFFIX, file_name

DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"
RESTART_SUFFIX = ".restart"

_GOES = re.compile(r".*\.(?:tmp|cleaned|deleted)")
_OFFSET_FILE = re.compile(r"(\d{20})(\.[a-z]+)")
_LOG_SUFFIXES = frozenset({LOG_SUFFIX, *INDEX_SUFFIXES, SNAPSHOT_SUFFIX, RESTART_SUFFIX})
_ABOUT_THE_WHOLE_LOG = frozenset({LEADER_EPOCH_CHECKPOINT, COMPACTED_OFFSET})


class DirectoryListing:
    """The files of a partition, by what they are."""

    __slots__ = ("base_offsets", "snapshot_offsets")

    def __init__(self, names: list[str]) -> None:
        files = [match.groups() for name in names if (match := _OFFSET_FILE.fullmatch(name))]
        self.base_offsets = [int(offset) for offset, suffix in files if suffix == LOG_SUFFIX]
        self.snapshot_offsets = [int(offset) for offset, suffix in files if suffix == SNAPSHOT_SUFFIX]


def tidy_directory(filesystem: FileSystem, directory: str) -> DirectoryListing:
    """Finish or undo what was interrupted, and say what is there."""
    names = filesystem.list_directory(directory)
    if any(name.endswith(RESTART_SUFFIX) for name in names):
        complete_restart(filesystem, directory)
        names = filesystem.list_directory(directory)
    going = [name for name in names if _GOES.fullmatch(name)]
    swaps = [name for name in names if name.endswith(SWAP_SUFFIX)]
    kept = [name for name in names if name not in going and name not in swaps]
    if swaps:
        kept = _finish_swaps(filesystem, directory, swaps, kept)
    orphans = _orphaned_indexes(kept)
    for name in (*going, *orphans):
        filesystem.unlink(join_path(directory, name))
    if going or orphans or swaps:
        filesystem.sync_directory(directory)
    return DirectoryListing([name for name in kept if name not in orphans])


def complete_restart(filesystem: FileSystem, directory: str) -> None:
    """Let a log begin anew whose new first segment is there: that decides it once its name is durable."""
    filesystem.sync_directory(directory)
    names = filesystem.list_directory(directory)
    restart = max(name for name in names if name.endswith(RESTART_SUFFIX))
    for name in names:
        if name != restart and _is_of_the_log(name):
            filesystem.unlink(join_path(directory, name))
    filesystem.sync_directory(directory)
    first = restart.removesuffix(RESTART_SUFFIX) + LOG_SUFFIX
    filesystem.rename(join_path(directory, restart), join_path(directory, first))
    filesystem.sync_directory(directory)


def _is_of_the_log(name: str) -> bool:
    """Whether the file holds batches, or anything derived from them."""
    match = _OFFSET_FILE.fullmatch(name)
    is_part = match is not None and match[2] in _LOG_SUFFIXES
    return is_part or name in _ABOUT_THE_WHOLE_LOG or name.endswith(SWAP_SUFFIX)


def _finish_swaps(filesystem: FileSystem, directory: str, swaps: list[str], kept: list[str]) -> list[str]:
    """Let each compacted segment take the place of the ones it was made from; its log file comes last.

    Indexes without their log file are of a swap that was never decided, and go.
    """
    names, waiting = set(kept), set(swaps)
    for swap in swaps:
        final = swap.removesuffix(SWAP_SUFFIX)
        base_name = final.partition(".")[0]
        if not final.endswith(LOG_SUFFIX):
            if base_name + LOG_SUFFIX + SWAP_SUFFIX not in waiting:
                filesystem.unlink(join_path(directory, swap))
            continue
        for name in _replaced_files(filesystem, join_path(directory, swap), final, names):
            filesystem.unlink(join_path(directory, name))
            names.discard(name)
        for suffix in INDEX_SUFFIXES:
            if base_name + suffix + SWAP_SUFFIX in waiting:
                _rename_swap(filesystem, directory, base_name + suffix)
                names.add(base_name + suffix)
        filesystem.sync_directory(directory)
        _rename_swap(filesystem, directory, final)
        names.add(final)
    return sorted(names)


def _rename_swap(filesystem: FileSystem, directory: str, final: str) -> None:
    filesystem.rename(join_path(directory, final + SWAP_SUFFIX), join_path(directory, final))


def _replaced_files(filesystem: FileSystem, swap_path: str, final: str, names: set[str]) -> list[str]:
    """Files of the old segments that begin inside the range of the new one, behind its own beginning.

    Those of its own beginning are replaced by the new ones of the same names.
    """
    base_offset = int(final.removesuffix(LOG_SUFFIX))
    last_offset = _last_offset(filesystem, swap_path, base_offset)
    return [
        name
        for name in sorted(names)
        if (match := _OFFSET_FILE.fullmatch(name))
        and base_offset < int(match[1]) <= last_offset
        and match[2] in (LOG_SUFFIX, *INDEX_SUFFIXES)
    ]


def _last_offset(filesystem: FileSystem, path: str, base_offset: int) -> int:
    file = filesystem.open(path)
    last_offset = base_offset
    try:
        for _, header in walk(file, 0, file.size(), Continuity(base_offset, GAPS_ANYWHERE)):
            last_offset = header.last_offset
    except CorruptLogError:
        # What is readable of it is what it replaces for certain; recovery judges the rest.
        return last_offset
    finally:
        file.close()
    return last_offset


def _orphaned_indexes(names: list[str]) -> list[str]:
    present = set(names)
    return [
        name
        for name in names
        if (match := _OFFSET_FILE.fullmatch(name))
        and match[2] in INDEX_SUFFIXES
        and file_name(int(match[1]), LOG_SUFFIX) not in present
    ]
