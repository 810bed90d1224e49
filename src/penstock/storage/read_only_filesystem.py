"""A file system that cannot be changed: for looking at a data directory that a broker may be using.

Files are opened for reading only, so that the kernel itself refuses every write; all that changes names is
refused here.
"""

import os
from typing import NoReturn

from penstock.model.errors import StorageError
from penstock.storage.real_filesystem import RealFile, RealFileSystem, storage_error


class ReadOnlyError(StorageError):
    """Somebody tried to change what was only to be looked at."""


class ReadOnlyFileSystem(RealFileSystem):
    """The machine's file system, behind glass."""

    __slots__ = ()

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> RealFile:
        """Open a file that is there, for reading."""
        if create or exclusive:
            raise _refusal("create", path)
        try:
            return RealFile(path, os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW))
        except OSError as error:
            raise storage_error("open", path, error) from error

    def make_directory(self, path: str) -> None:
        """Refused."""
        raise _refusal("make directory", path)

    def make_private(self, path: str) -> bool:
        """Refused."""
        raise _refusal("change the mode of", path)

    def remove_directory(self, path: str) -> None:
        """Refused."""
        raise _refusal("remove directory", path)

    def rename(self, source: str, target: str) -> None:
        """Refused."""
        raise _refusal(f"rename to {target}:", source)

    def unlink(self, path: str) -> None:
        """Refused."""
        raise _refusal("remove", path)

    def sync_directory(self, path: str) -> None:
        """Refused."""
        raise _refusal("flush directory", path)

    def lock(self, path: str) -> NoReturn:
        """Refused: a lock held for a moment could keep a broker from starting."""
        raise _refusal("lock", path)


def _refusal(action: str, path: str) -> ReadOnlyError:
    return ReadOnlyError(f"Could not {action} {path}: it is only looked at")
