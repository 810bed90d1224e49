"""Room on the disk: refusing to fill it, and having some left when it is full all the same.

Below the soft limit (5 % of the disk, at most 1 GiB unless told otherwise) producers are refused while
everything else goes on, so that the disk rarely is full. Should it fill up anyway, a reserve file of 16 MiB
is given back, and metadata and checkpoints can still be written while a person makes room.
"""

from collections.abc import Callable

from penstock.model.errors import DiskFullError
from penstock.storage.filesystem import DiskUsage, FileSystem, join_path

RESERVE_FILE = "reserve"
RESERVE_BYTES = 16 * 1024 * 1024
SOFT_LIMIT_BYTES_MAX = 1024 * 1024 * 1024
SOFT_LIMIT_PERCENT = 5


def soft_limit_bytes(usage: DiskUsage, limit_bytes_max: int = SOFT_LIMIT_BYTES_MAX) -> int:
    """How much is to stay free."""
    return min(usage.total_bytes * SOFT_LIMIT_PERCENT // 100, limit_bytes_max)


class DiskRoom:
    """The room of one data directory. Its methods block; ``is_low`` may be read anywhere."""

    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        *,
        reserve_bytes: int = RESERVE_BYTES,
        soft_limit_bytes_max: int = SOFT_LIMIT_BYTES_MAX,
    ) -> None:
        self._fs = fs
        self._soft_limit_bytes_max = soft_limit_bytes_max
        self._directory = directory
        self._reserve_bytes = reserve_bytes
        self._reserve_path = join_path(directory, RESERVE_FILE)
        #: Whether producers are to be refused, as of the last look.
        self.is_low = False
        #: As of the last look.
        self.usage: DiskUsage | None = None

    def look(self) -> DiskUsage:
        """See how full the disk is; the reserve is made again once there is room for it."""
        usage = self.usage = self._fs.usage(self._directory)
        self.is_low = usage.free_bytes < soft_limit_bytes(usage, self._soft_limit_bytes_max)
        if not self.is_low and usage.free_bytes > 2 * self._reserve_bytes:
            self._keep_reserve()
        return usage

    def release_reserve(self) -> bool:
        """Give the reserve back to the disk; False when there was none left to give."""
        if not self._fs.exists(self._reserve_path):
            return False
        self._fs.unlink(self._reserve_path)
        self.is_low = True
        return True

    def use_reserve(self, write: Callable[[], None]) -> None:
        """Write something small that must be written, on the reserve's room if there is no other."""
        try:
            write()
        except DiskFullError:
            if not self.release_reserve():
                raise
            write()

    def _keep_reserve(self) -> None:
        if self._fs.exists(self._reserve_path) and self._fs.size(self._reserve_path) >= self._reserve_bytes:
            return
        file = self._fs.open(self._reserve_path, create=True)
        try:
            file.preallocate(self._reserve_bytes)
        except DiskFullError:
            self.is_low = True
        finally:
            file.close()
