"""The machine's file system for a broker that may be killed without being a process.

The kernel closes the files of a process that dies. Here somebody has to remember them.
"""

from weakref import WeakSet

from penstock.storage.real_filesystem import RealFile, RealFileSystem, RealLock


class TrackedFile(RealFile):
    """An open file that can be found again."""

    __slots__ = ("__weakref__",)


class TrackedFileSystem(RealFileSystem):
    """Knows which files and locks are open."""

    __slots__ = ("_files", "_locks")

    def __init__(self) -> None:
        super().__init__()
        self._files: WeakSet[TrackedFile] = WeakSet()
        self._locks: list[RealLock] = []

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> RealFile:
        """Open a file and remember it."""
        opened = super().open(path, create=create, exclusive=exclusive)
        descriptor = opened.fileno()
        assert descriptor is not None
        file = TrackedFile(path, descriptor)
        self._files.add(file)
        return file

    def lock(self, path: str) -> RealLock:
        """Hold a lock and remember it."""
        lock = super().lock(path)
        self._locks.append(lock)
        return lock

    def close_everything(self) -> None:
        """Close what is open, as the end of a process does."""
        for file in list(self._files):
            file.close()
        for lock in self._locks:
            lock.release()
        self._locks.clear()
