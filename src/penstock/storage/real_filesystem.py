"""The machine's own file system, through the operating system's calls.

It guards four things: every file belongs to its owner only, links are not followed, a write is whole or an
error, and a failed flush is never followed by one that seems to succeed. Interrupted calls are repeated by
Python itself (PEP 475); short writes are continued here.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Sequence

from penstock.model.errors import DirectoryInUseError, DiskFullError, FlushFailedError, StorageError
from penstock.storage.filesystem import (
    BytesLike,
    DiskUsage,
    PathExistsError,
    PathMissingError,
    parent_directory,
)

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
BUFFERS_PER_WRITE_MAX = 1024
"""Linux refuses more buffers in one gathered write (IOV_MAX)."""

_OPEN_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class RealFile:
    """An open file of this machine."""

    __slots__ = ("_descriptor", "_flush_failure", "path")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._flush_failure: str | None = None

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes; fewer only at the end of the file."""
        try:
            data = os.pread(self._descriptor, length, position)
            return data if len(data) == length else self._read_on(data, position, length)
        except OSError as error:
            raise storage_error("read", self.path, error) from error

    def write(self, position: int, buffers: Sequence[BytesLike]) -> None:
        """Write all buffers one after the other."""
        if position < 0:
            # The kernel would take -1 for "wherever the cursor is".
            raise StorageError(f"Could not write {self.path}: there is no position {position}")
        if len(buffers) > BUFFERS_PER_WRITE_MAX:
            for start in range(0, len(buffers), BUFFERS_PER_WRITE_MAX):
                position = self._write_some(position, buffers[start : start + BUFFERS_PER_WRITE_MAX])
        else:
            self._write_some(position, buffers)

    def truncate(self, size: int) -> None:
        """Set the file's length."""
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as error:
            raise storage_error("truncate", self.path, error) from error

    def preallocate(self, size: int) -> None:
        """Reserve room on the disk."""
        if size <= 0:
            return
        try:
            os.posix_fallocate(self._descriptor, 0, size)
        except OSError as error:
            raise storage_error("preallocate", self.path, error) from error

    def flush(self) -> None:
        """Make bytes and size durable, or fail for ever."""
        if self._flush_failure is not None:
            raise FlushFailedError(self._flush_failure)
        if self._descriptor < 0:
            raise StorageError(f"Could not flush {self.path}: it is closed")
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            self._flush_failure = f"Could not flush {self.path}: {error.strerror}"
            raise FlushFailedError(self._flush_failure) from error

    def size(self) -> int:
        """The file's length."""
        try:
            return os.fstat(self._descriptor).st_size
        except OSError as error:
            raise storage_error("measure", self.path, error) from error

    def fileno(self) -> int | None:
        """The descriptor."""
        return self._descriptor

    def flush_descriptor(self) -> int | None:
        """The descriptor, unless a flush has failed on it before."""
        return self._descriptor if self._flush_failure is None and self._descriptor >= 0 else None

    def is_resident(self, position: int, length: int) -> bool:
        """Probe the last byte of the range with a read that must not wait."""
        if length <= 0:
            return True
        try:
            os.preadv(self._descriptor, [bytearray(1)], position + length - 1, os.RWF_NOWAIT)
        except BlockingIOError:
            return False
        except OSError:
            # The file system cannot answer (tmpfs, old kernels); a real error shows itself at the read.
            return True
        return True

    def close(self) -> None:
        """Close the descriptor once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        try:
            os.close(descriptor)
        except OSError as error:
            # The kernel may report a lost write here and only here.
            raise FlushFailedError(f"Could not close {self.path}: {error.strerror}") from error

    def _read_on(self, data: bytes, position: int, length: int) -> bytes:
        pieces = [data]
        received = len(data)
        while data and received < length:
            data = os.pread(self._descriptor, length - received, position + received)
            pieces.append(data)
            received += len(data)
        return b"".join(pieces)

    def _write_some(self, position: int, buffers: Sequence[BytesLike]) -> int:
        """Write at most as many buffers as one call takes; answers the position behind them."""
        wanted = sum(map(len, buffers))
        try:
            written = os.pwritev(self._descriptor, buffers, position)
            if written < wanted:
                self._write_on(position, buffers, written)
        except OSError as error:
            raise storage_error("write", self.path, error) from error
        return position + wanted

    def _write_on(self, position: int, buffers: Sequence[BytesLike], written: int) -> None:
        """Continue after a short write, usually to learn from the next call why it was short."""
        while rest := _without_first(buffers, written):
            count = os.pwritev(self._descriptor, rest, position + written)
            if count == 0:
                raise StorageError(f"Could not write {self.path}: the system takes no more bytes")
            written += count


class RealLock:
    """An advisory lock on an open file; a dead process holds none."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go, by closing; the file stays."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class RealFileSystem:
    """Files and directories of this machine, by path."""

    __slots__ = ("_failed_directories",)

    def __init__(self) -> None:
        self._failed_directories: dict[str, str] = {}

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> RealFile:
        """Open a regular file for reading and writing."""
        flags = os.O_RDWR | (os.O_CREAT if create or exclusive else 0) | (os.O_EXCL if exclusive else 0)
        descriptor = _open(path, flags)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise StorageError(f"Could not open {path}: it is no regular file")
        return RealFile(path, descriptor)

    def exists(self, path: str) -> bool:
        """Whether the name is taken, by whatever."""
        return os.path.lexists(path)

    def is_directory(self, path: str) -> bool:
        """Whether it is a directory and no link."""
        try:
            return stat.S_ISDIR(os.lstat(path).st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise storage_error("look at", path, error) from error

    def size(self, path: str) -> int:
        """A file's length by name."""
        try:
            return os.lstat(path).st_size
        except OSError as error:
            raise storage_error("measure", path, error) from error

    def list_directory(self, path: str) -> list[str]:
        """The names inside, sorted."""
        try:
            return sorted(os.listdir(path))
        except OSError as error:
            raise storage_error("list", path, error) from error

    def make_directory(self, path: str) -> None:
        """Make one directory for its owner only."""
        try:
            os.mkdir(path, DIRECTORY_MODE)
        except OSError as error:
            raise storage_error("make directory", path, error) from error

    def make_private(self, path: str) -> bool:
        """Set the owner's mode on a directory that may have been made by somebody else."""
        descriptor = _open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fchmod(descriptor, DIRECTORY_MODE)
        except PermissionError:
            return False
        except OSError as error:
            raise storage_error("change the mode of", path, error) from error
        finally:
            os.close(descriptor)
        return True

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        try:
            os.rmdir(path)
        except OSError as error:
            raise storage_error("remove directory", path, error) from error

    def rename(self, source: str, target: str) -> None:
        """Move a name inside its directory, replacing a file of the target's."""
        if parent_directory(source) != parent_directory(target):
            raise StorageError(f"Could not rename to {target}: {source}: they are in different directories")
        try:
            os.rename(source, target)
        except OSError as error:
            raise storage_error(f"rename to {target}:", source, error) from error

    def unlink(self, path: str) -> None:
        """Remove a file's name."""
        try:
            os.unlink(path)
        except OSError as error:
            raise storage_error("remove", path, error) from error

    def sync_directory(self, path: str) -> None:
        """Make the names inside durable, or fail for ever."""
        if path in self._failed_directories:
            raise FlushFailedError(self._failed_directories[path])
        descriptor = _open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            self._failed_directories[path] = f"Could not flush directory {path}: {error.strerror}"
            raise FlushFailedError(self._failed_directories[path]) from error
        finally:
            os.close(descriptor)

    def read_file(self, path: str) -> bytes:
        """All bytes of a small file."""
        descriptor = _open(path, os.O_RDONLY)
        try:
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                return file.readall()
        except OSError as error:
            raise storage_error("read", path, error) from error

    def usage(self, path: str) -> DiskUsage:
        """Sizes of the disk under a path, as an ordinary user sees them."""
        try:
            facts = os.statvfs(path)
        except OSError as error:
            raise storage_error("ask for the free space of", path, error) from error
        return DiskUsage(
            total_bytes=facts.f_frsize * facts.f_blocks, free_bytes=facts.f_frsize * facts.f_bavail
        )

    def lock(self, path: str) -> RealLock:
        """Take the lock at once or not at all."""
        descriptor = _open(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise DirectoryInUseError(
                f"Another process holds {path}; only one may use its directory"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise storage_error("lock", path, error) from error
        return RealLock(descriptor)


def _open(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | _OPEN_FLAGS, FILE_MODE)
    except OSError as error:
        raise storage_error("open", path, error) from error


def _without_first(buffers: Sequence[BytesLike], count: int) -> list[BytesLike]:
    """What is left of the buffers behind their first ``count`` bytes."""
    rest: list[BytesLike] = []
    for buffer in buffers:
        if count >= len(buffer):
            count -= len(buffer)
        else:
            rest.append(memoryview(buffer)[count:])
            count = 0
    return rest


def storage_error(action: str, path: str, error: OSError) -> StorageError:
    """The error of ours that says what could not be done, to what, and why."""
    message = f"Could not {action} {path}: {error.strerror}"
    if error.errno in _NO_ROOM:
        return DiskFullError(message)
    if isinstance(error, FileNotFoundError):
        return PathMissingError(message)
    if isinstance(error, FileExistsError):
        return PathExistsError(message)
    return StorageError(message)
