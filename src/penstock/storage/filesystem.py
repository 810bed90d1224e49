"""The seam between Penstock and the disk: what a file and a file system must be able to do.

Two kinds of forgetting shape this interface. A process that dies leaves the page cache behind; a machine that
loses power leaves only what was flushed. So nothing here is durable by itself: bytes and file sizes are after
``File.flush``, and names (created, renamed, removed) are after ``FileSystem.sync_directory`` of their parent.

Paths are plain strings with ``/`` between names. Links are never followed in the last name. Every failure is
a ``StorageError``; callers never see ``OSError``. Calls block: the shell runs them on a worker thread. A file
may be used by several threads at once, except that nobody may use it while or after it is closed.

``RealFileSystem`` is the machine's own, ``MemoryFileSystem`` a simulated disk, ``FaultyFileSystem`` one that
fails on purpose. One contract test holds them to the same behaviour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from penstock.model.errors import StorageError

BytesLike: TypeAlias = bytes | bytearray | memoryview
"""What may be written: one byte per item, contiguous."""


class PathMissingError(StorageError):
    """There is no file or directory of that name."""


class PathExistsError(StorageError):
    """Something of that name is already there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUsage:
    """How large the disk under a path is, and how much of it an ordinary user can still fill."""

    total_bytes: int
    free_bytes: int


class File(Protocol):
    """An open regular file, read and written at explicit positions: there is no cursor to share."""

    @property
    def path(self) -> str:
        """The name it was opened by; a later rename does not change it."""

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes; fewer only at the end of the file."""

    def write(self, position: int, buffers: Sequence[BytesLike]) -> None:
        """Write the buffers one after the other, all of them, without joining them first.

        After an error an unknown part of them may have been written.
        """

    def truncate(self, size: int) -> None:
        """Cut the file, or extend it by zeros, to ``size`` bytes."""

    def preallocate(self, size: int) -> None:
        """Reserve room for ``size`` bytes; a shorter file grows to that size by zeros, a longer one stays."""

    def flush(self) -> None:
        """Make the file's bytes and size durable.

        A failure raises ``FlushFailedError``, and so does every later flush of this file: the operating
        system reports a lost write once and forgets it, so a second flush that succeeds would prove nothing.
        """

    def size(self) -> int:
        """The file's length in bytes."""

    def fileno(self) -> int | None:
        """The descriptor to hand to the kernel for copying to a socket; None when there is none."""

    def flush_descriptor(self) -> int | None:
        """The descriptor on which the kernel may do by itself what ``flush`` does; None when it may not.

        Whoever uses it must treat an error as ``flush`` does: the file is never to be believed again.
        """

    def is_resident(self, position: int, length: int) -> bool:
        """Whether reading that range would probably not wait for the disk; True when nobody can tell."""

    def close(self) -> None:
        """Give the descriptor back; closing twice does nothing. Nothing becomes durable by closing."""


class Lock(Protocol):
    """A directory held by this process; the operating system lets go of it when the process dies."""

    def release(self) -> None:
        """Let others have it; releasing twice does nothing."""


class FileSystem(Protocol):
    """Names and files below a data directory, all made for their owner only: files 0600, directories 0700."""

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> File:
        """Open to read and write; ``exclusive`` means create, and ``PathExistsError`` if it is there."""

    def exists(self, path: str) -> bool:
        """Whether a file or directory of that name is there."""

    def is_directory(self, path: str) -> bool:
        """Whether a directory, not a link to one, of that name is there."""

    def size(self, path: str) -> int:
        """The length of a file by name."""

    def list_directory(self, path: str) -> list[str]:
        """The names inside, sorted."""

    def make_directory(self, path: str) -> None:
        """Make one directory; its parent must be there and it must not."""

    def make_private(self, path: str) -> bool:
        """Take the directory's rights from everybody but its owner; False when that is not ours to do."""

    def remove_directory(self, path: str) -> None:
        """Remove a directory, which must be empty."""

    def rename(self, source: str, target: str) -> None:
        """Give a file or directory another name in the same directory, so that one sync makes it durable.

        A file takes the place of a file of the target's name.
        """

    def unlink(self, path: str) -> None:
        """Remove a file's name; open files stay usable."""

    def sync_directory(self, path: str) -> None:
        """Make the names inside durable, as they are now; fails like ``File.flush``."""

    def read_file(self, path: str) -> bytes:
        """All bytes of a small file."""

    def usage(self, path: str) -> DiskUsage:
        """The state of the disk that holds ``path``."""

    def lock(self, path: str) -> Lock:
        """Hold the lock file (made if missing) or raise ``DirectoryInUseError`` at once."""


def join_path(directory: str, name: str) -> str:
    """The path of ``name`` inside ``directory``."""
    return f"{directory}{name}" if directory.endswith("/") else f"{directory}/{name}"


def parent_directory(path: str) -> str:
    """The directory that holds ``path``, whose sync makes its name durable."""
    head, separator, _ = path.rstrip("/").rpartition("/")
    if not separator:
        return "."
    return head or "/"
