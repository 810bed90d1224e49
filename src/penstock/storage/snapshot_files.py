"""Snapshots beside a log: files that stand for everything below an offset (``<offset>-<epoch>.checkpoint``).

Kafka's names: twenty digits of the first offset that is not in it, ten of the epoch of the last one that is.
A snapshot is put together piece by piece under a name that ends in ``.part``. When it is whole it is flushed,
gets its name, and that is made durable: only then may anybody rely on it, or the log let go of what it
replaces (disk rule 41). The one before stays, for the case that the newest proves unreadable; older ones go.

What is inside is the caller's to read and to judge. One that makes no sense is discarded and fetched again,
and never taken for a smaller one that does (disk rule 42).

Everything blocks, and may be called on several threads at once. Only ``newest`` and ``present`` answer from
memory.
"""

import re
from threading import Lock
from typing import NamedTuple

from penstock.model.errors import InvariantError
from penstock.storage.filesystem import FileSystem, PathMissingError, join_path

SUFFIX = ".checkpoint"
PART_SUFFIX = ".checkpoint.part"
KEPT_MAX = 2
PARTS_MAX = 4
"""Snapshots that are being put together at once; of those that nobody completed the oldest goes."""

_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class SnapshotName(NamedTuple):
    """A snapshot by where it ends; ascending names are of ever newer ones."""

    end_offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.end_offset:020d}-{self.epoch:010d}"


class SnapshotPiece(NamedTuple):
    """Some bytes of a snapshot, and how many it has in all."""

    data: bytes
    size_bytes: int


class SnapshotFiles:
    """The snapshots of one directory."""

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._filesystem = filesystem
        self._directory = directory
        # Of the names; the bytes of a whole snapshot never change.
        self._lock = Lock()
        self._present: list[SnapshotName] = []

    @classmethod
    def open(cls, filesystem: FileSystem, directory: str) -> "SnapshotFiles":
        """See what is there, after removing what was never completed."""
        files = cls(filesystem, directory)
        names = filesystem.list_directory(directory)
        for name in names:
            if name.endswith(PART_SUFFIX):
                filesystem.unlink(join_path(directory, name))
        # A name may so far be known to the page cache alone; what it names was flushed before.
        filesystem.sync_directory(directory)
        files._present = sorted(filter(None, map(_parse, names)))
        return files

    def newest(self) -> SnapshotName | None:
        """The one that ends last."""
        present = self._present
        return present[-1] if present else None

    def present(self) -> tuple[SnapshotName, ...]:
        """All that are whole, oldest first."""
        return tuple(self._present)

    def append(self, end_offset: int, epoch: int, position: int, data: bytes) -> None:
        """Put a piece behind the last one; one at position 0 begins the snapshot anew."""
        path = self._path(SnapshotName(end_offset, epoch), PART_SUFFIX)
        if position == 0:
            self._limit_parts(path)
        file = self._filesystem.open(path, create=position == 0)
        try:
            if position == 0:
                file.truncate(0)
            elif file.size() != position:
                raise InvariantError(f"{path} has {file.size()} bytes, the next piece is of {position}")
            file.write(position, [data])
        finally:
            file.close()

    def complete(self, end_offset: int, epoch: int) -> None:
        """All pieces are there: make the snapshot durable, then let go of all but the newest two."""
        name = SnapshotName(end_offset, epoch)
        file = self._filesystem.open(self._path(name, PART_SUFFIX))
        try:
            file.flush()
        finally:
            file.close()
        with self._lock:
            self._filesystem.rename(self._path(name, PART_SUFFIX), self._path(name))
            self._filesystem.sync_directory(self._directory)
            self._present = sorted({*self._present, name})
            for old in self._present[:-KEPT_MAX]:
                self._remove(old)

    def abandon(self, end_offset: int, epoch: int) -> None:
        """Remove the pieces of a snapshot that will not be completed, if there are any."""
        self._unlink(self._path(SnapshotName(end_offset, epoch), PART_SUFFIX))

    def discard(self, end_offset: int, epoch: int) -> None:
        """Remove a snapshot whose content makes no sense, durably; it is not there any more for anybody."""
        with self._lock:
            self._remove(SnapshotName(end_offset, epoch))
            self._filesystem.sync_directory(self._directory)

    def read_piece(self, end_offset: int, epoch: int, position: int, bytes_max: int) -> SnapshotPiece | None:
        """Some bytes from ``position`` on; None if the snapshot is not there, or not any more."""
        try:
            file = self._filesystem.open(self._path(SnapshotName(end_offset, epoch)))
        except PathMissingError:
            return None
        try:
            return SnapshotPiece(file.read(position, bytes_max), file.size())
        finally:
            file.close()

    def _limit_parts(self, path: str) -> None:
        """Make room for one more that is begun."""
        names = self._filesystem.list_directory(self._directory)
        parts = [join_path(self._directory, name) for name in names if name.endswith(PART_SUFFIX)]
        others = [part for part in parts if part != path]
        for part in others[: max(0, len(others) - PARTS_MAX + 1)]:
            self._unlink(part)

    def _remove(self, name: SnapshotName) -> None:
        self._present = [each for each in self._present if each != name]
        self._unlink(self._path(name))

    def _unlink(self, path: str) -> None:
        try:
            self._filesystem.unlink(path)
        except PathMissingError:
            # Somebody else has removed it; that it is gone is all that was asked for.
            return

    def _path(self, name: SnapshotName, suffix: str = SUFFIX) -> str:
        return join_path(self._directory, f"{name}{suffix}")


def _parse(name: str) -> SnapshotName | None:
    match = _NAME.fullmatch(name)
    return None if match is None else SnapshotName(int(match[1]), int(match[2]))
