"""A file system that fails on purpose, wrapped around one that works.

For tests of real processes, which cannot be given a simulated disk: ``with_failpoints`` wraps the file system
only when the environment asks for it, so an ordinary broker never runs through this code. The grammar is in
``penstock.storage.failpoints``.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.model.errors import FlushFailedError, StorageError
from penstock.storage.failpoints import FAILPOINTS_VARIABLE, Failpoint, parse_failpoints
from penstock.storage.filesystem import BytesLike, DiskUsage, File, FileSystem, Lock
from penstock.storage.real_filesystem import storage_error


def with_failpoints(fs: FileSystem, environment: Mapping[str, str]) -> FileSystem:
    """The file system itself, or one that fails as the environment orders."""
    text = environment.get(FAILPOINTS_VARIABLE, "")
    return FaultyFileSystem(fs, text) if text else fs


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """How a process waits and how it dies."""

    sleep: Callable[[float], None] = time.sleep
    kill: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGKILL)


class Faults:
    """The orders that stand."""

    def __init__(self, failpoints: Sequence[Failpoint], means: Means) -> None:
        self._failpoints = failpoints
        self._means = means

    def strike(self, operation: str, path: str) -> None:
        """Wait, die or fail, if that was ordered."""
        for failpoint in self._failpoints:
            if failpoint.strikes(operation, path):
                self._carry_out(failpoint, path)

    def _carry_out(self, failpoint: Failpoint, path: str) -> None:
        if failpoint.delay_seconds:
            self._means.sleep(failpoint.delay_seconds)
        if failpoint.kills:
            self._means.kill()
        if failpoint.error_number is not None:
            error = OSError(failpoint.error_number, os.strerror(failpoint.error_number))
            raise storage_error(failpoint.operation, path, error) from error


class FaultyFile:
    """An open file whose operations may be struck."""

    __slots__ = ("_faults", "_file", "_flush_failure", "path")

    def __init__(self, file: File, faults: Faults) -> None:
        self.path = file.path
        self._file = file
        self._faults = faults
        self._flush_failure: str | None = None

    def read(self, position: int, length: int) -> bytes:
        """Read, unless struck."""
        self._faults.strike("read", self.path)
        return self._file.read(position, length)

    def write(self, position: int, buffers: Sequence[BytesLike]) -> None:
        """Write; when struck by an error, the first half, as a disk that fills up does."""
        try:
            self._faults.strike("write", self.path)
        except StorageError:
            data = b"".join(buffers)
            self._file.write(position, [data[: len(data) // 2]])
            raise
        self._file.write(position, buffers)

    def truncate(self, size: int) -> None:
        """Truncate, unless struck."""
        self._faults.strike("truncate", self.path)
        self._file.truncate(size)

    def preallocate(self, size: int) -> None:
        """Preallocate, unless struck."""
        self._faults.strike("preallocate", self.path)
        self._file.preallocate(size)

    def flush(self) -> None:
        """Flush, unless struck now or before."""
        if self._flush_failure is not None:
            raise FlushFailedError(self._flush_failure)
        try:
            self._faults.strike("flush", self.path)
        except StorageError as error:
            self._flush_failure = str(error)
            raise FlushFailedError(self._flush_failure) from error
        self._file.flush()

    def size(self) -> int:
        """The file's length."""
        return self._file.size()

    def fileno(self) -> int | None:
        """The descriptor; what the kernel does with it cannot be struck."""
        return self._file.fileno()

    def flush_descriptor(self) -> int | None:
        """The orders must be seen, so nobody may go around ``flush``."""
        return None

    def is_resident(self, position: int, length: int) -> bool:
        """Whether the range is in the page cache."""
        return self._file.is_resident(position, length)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class FaultyFileSystem:
    """Another file system whose operations may be struck, as ``orders`` say."""

    def __init__(self, inner: FileSystem, orders: str, *, means: Means | None = None) -> None:
        self._inner = inner
        self._faults = Faults(parse_failpoints(orders), means or Means())
        self._failed_directories: dict[str, str] = {}

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> FaultyFile:
        """Open, unless struck."""
        self._faults.strike("open", path)
        return FaultyFile(self._inner.open(path, create=create, exclusive=exclusive), self._faults)

    def exists(self, path: str) -> bool:
        """Whether the name is taken."""
        return self._inner.exists(path)

    def is_directory(self, path: str) -> bool:
        """Whether it is a directory."""
        return self._inner.is_directory(path)

    def size(self, path: str) -> int:
        """A file's length by name."""
        return self._inner.size(path)

    def list_directory(self, path: str) -> list[str]:
        """The names inside, sorted."""
        return self._inner.list_directory(path)

    def make_directory(self, path: str) -> None:
        """Make a directory, unless struck."""
        self._faults.strike("make_directory", path)
        self._inner.make_directory(path)

    def make_private(self, path: str) -> bool:
        """Take rights from others."""
        return self._inner.make_private(path)

    def remove_directory(self, path: str) -> None:
        """Remove a directory, unless struck."""
        self._faults.strike("remove_directory", path)
        self._inner.remove_directory(path)

    def rename(self, source: str, target: str) -> None:
        """Rename, unless struck by an order for the source's path."""
        self._faults.strike("rename", source)
        self._inner.rename(source, target)

    def unlink(self, path: str) -> None:
        """Remove a name, unless struck."""
        self._faults.strike("unlink", path)
        self._inner.unlink(path)

    def sync_directory(self, path: str) -> None:
        """Sync, unless struck now or before."""
        if path in self._failed_directories:
            raise FlushFailedError(self._failed_directories[path])
        try:
            self._faults.strike("flush", path)
        except StorageError as error:
            self._failed_directories[path] = str(error)
            raise FlushFailedError(str(error)) from error
        self._inner.sync_directory(path)

    def read_file(self, path: str) -> bytes:
        """Read, unless struck."""
        self._faults.strike("read", path)
        return self._inner.read_file(path)

    def usage(self, path: str) -> DiskUsage:
        """The disk's room."""
        return self._inner.usage(path)

    def lock(self, path: str) -> Lock:
        """Hold the lock file."""
        return self._inner.lock(path)
