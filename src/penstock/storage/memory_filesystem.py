"""A simulated disk: the file system seam in memory, with every way a disk can let a broker down.

It is as unkind as POSIX allows a disk to be, and deterministic: one seed, one outcome. ``crash`` is the death
of a process, after which the page cache is still there; ``power_loss`` keeps what was flushed and, by chance,
parts of the rest (``penstock.storage.memory_nodes`` has the rules). Either way every open file and lock of
the process that was running is dead afterwards.

To try every crash point of a piece of code, run it once and read ``operation_count``, then run it again on a
fresh disk once per number with ``stop_before(number)``, lose power, and see what recovery makes of it.
"""

from collections import deque
from collections.abc import Sequence
from random import Random

from penstock.model.errors import DirectoryInUseError, DiskFullError, FlushFailedError, StorageError
from penstock.storage.filesystem import BytesLike, DiskUsage, PathExistsError, PathMissingError
from penstock.storage.memory_machine import FlushFault, MemoryMachine, Operation
from penstock.storage.memory_nodes import DirectoryNode, FileNode, Link, Node, Rename, Unlink

CAPACITY_BYTES_DEFAULT = 1 << 40


class MemoryFile:
    """An open file of the simulated machine."""

    __slots__ = ("_disk", "_flush_failure", "_incarnation", "_is_closed", "_node", "path")

    def __init__(self, disk: "MemoryFileSystem", path: str, node: FileNode) -> None:
        self.path = path
        self._disk = disk
        self._node = node
        self._incarnation = disk.machine.incarnation
        self._flush_failure: str | None = None
        self._is_closed = False
        node.handles += 1

    def read(self, position: int, length: int) -> bytes:
        """Up to ``length`` bytes of the page cache."""
        self._check_usable()
        if position < 0 or length < 0:
            raise StorageError(f"Could not read {self.path}: Invalid argument")
        return bytes(self._node.cached[position : position + length])

    def write(self, position: int, buffers: Sequence[BytesLike]) -> None:
        """Change the page cache; a full disk takes the first part only, as real ones do."""
        self._check_usable()
        if position < 0:
            raise StorageError(f"Could not write {self.path}: Invalid argument")
        data = b"".join(buffers)
        self._disk.machine.record(Operation("write", self.path), lambda: self._write_part(position, data))
        room = max(0, self._disk.free_bytes + len(self._node.cached) - position)
        self._put(position, data[:room])
        if len(data) > room:
            raise DiskFullError(f"Could not write {self.path}: No space left on device")

    def truncate(self, size: int) -> None:
        """Set the length."""
        self._check_usable()
        if size < 0:
            raise StorageError(f"Could not truncate {self.path}: Invalid argument")
        self._disk.machine.record(Operation("truncate", self.path))
        self._resize(size)

    def preallocate(self, size: int) -> None:
        """Take room on the disk now."""
        self._check_usable()
        self._disk.machine.record(Operation("preallocate", self.path))
        growth = size - len(self._node.cached)
        if growth > self._disk.free_bytes:
            raise DiskFullError(f"Could not preallocate {self.path}: No space left on device")
        if growth > 0:
            self._resize(size)

    def flush(self) -> None:
        """Make the page cache durable, unless a failure was ordered for now or happened before."""
        self._check_usable()
        self._disk.machine.record(Operation("flush", self.path))
        if self._flush_failure is not None:
            raise FlushFailedError(self._flush_failure)
        if self._disk.machine.takes_flush_fault(self.path):
            self._node.fail_flush(self._disk.machine.rng)
            self._flush_failure = f"Could not flush {self.path}: Input/output error"
            raise FlushFailedError(self._flush_failure)
        self._node.flush()

    def size(self) -> int:
        """The length as processes see it."""
        self._check_usable()
        return len(self._node.cached)

    def fileno(self) -> int | None:
        """There is no descriptor."""
        return None

    def flush_descriptor(self) -> int | None:
        """There is no kernel that could."""
        return None

    def is_resident(self, position: int, length: int) -> bool:
        """As the disk was told to pretend."""
        self._check_usable()
        return not self._disk.is_cold

    def close(self) -> None:
        """Let go of the node, which frees the room of a file without a name."""
        if not self._is_closed and self._incarnation == self._disk.machine.incarnation:
            self._is_closed = True
            self._node.handles -= 1
            self._disk.free_if_unused(self._node)

    def _check_usable(self) -> None:
        self._disk.machine.check_running()
        if self._is_closed:
            raise StorageError(f"{self.path} is closed")
        if self._incarnation != self._disk.machine.incarnation:
            raise StorageError(f"{self.path} was opened by a process that is dead")

    def _write_part(self, position: int, data: bytes) -> None:
        """What a process killed inside a write leaves in the page cache."""
        self._put(position, data[: self._disk.machine.rng.randint(0, len(data))])

    def _put(self, position: int, data: bytes) -> None:
        if data:
            before = len(self._node.cached)
            self._node.write(position, data)
            self._disk.used_bytes += len(self._node.cached) - before

    def _resize(self, size: int) -> None:
        self._disk.used_bytes += size - len(self._node.cached)
        self._node.resize(size)


class MemoryLock:
    """A lock held by the simulated process."""

    __slots__ = ("_disk", "_path")

    def __init__(self, disk: "MemoryFileSystem", path: str) -> None:
        self._disk = disk
        self._path = path

    def release(self) -> None:
        """Let others have it, unless somebody else already does."""
        if self._disk.locks.get(self._path) is self:
            del self._disk.locks[self._path]


class MemoryFileSystem:
    """Directories and files of a machine that exists only here."""

    def __init__(self, rng: Random, *, capacity_bytes: int = CAPACITY_BYTES_DEFAULT) -> None:
        self.machine = MemoryMachine(rng)
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        #: Set it to let every file look as if it were not in the page cache.
        self.is_cold = False
        self.locks: dict[str, MemoryLock] = {}
        self._root = DirectoryNode()
        self._failed_directories: set[str] = set()

    @property
    def free_bytes(self) -> int:
        """Room for more bytes; a smaller disk than what is on it has none."""
        return max(0, self.capacity_bytes - self.used_bytes)

    @property
    def operations(self) -> deque[Operation]:
        """Every change asked for so far, oldest first; very old ones are forgotten."""
        return self.machine.operations

    @property
    def operation_count(self) -> int:
        """How many changes were asked for."""
        return self.machine.operation_count

    def crash(self) -> None:
        """Kill the process: what it wrote stays in the page cache, what it held is gone."""
        self._restart()

    def power_loss(self) -> None:
        """Cut the power: only what is durable, and by chance parts of what was not, comes back."""
        self._root.lose_power(self.machine.rng)
        self._restart()

    def stop_before(self, number: int) -> None:
        """Raise ``MachineStopped`` from the operation of that number, and from all after it."""
        self.machine.stop_before(number)

    def fail_flush(self, path_part: str = "", *, after: int = 0, count: int = 1) -> None:
        """Order the next flushes of matching files, or syncs of matching directories, to fail."""
        self.machine.fail_flush(FlushFault(path_part=path_part, after=after, count=count))

    def flip_bit(self, path: str, position: int | None = None) -> int:
        """Turn one durable bit over, as rotting media do; answers the byte's position."""
        node = self._file(path)
        if position is None:
            position = self.machine.rng.randrange(len(node.durable))
        bit = 1 << self.machine.rng.randrange(8)
        is_clean = node.durable[position : position + 1] == node.cached[position : position + 1]
        node.durable[position] ^= bit
        if is_clean:
            node.cached[position] ^= bit
        return position

    def open(self, path: str, *, create: bool = False, exclusive: bool = False) -> MemoryFile:
        """Open a file, making it if asked to."""
        self.machine.check_running()
        parent, name = self._parent(path)
        node = parent.entries.get(name)
        if exclusive and node is not None:
            raise PathExistsError(f"Could not open {path}: File exists")
        if isinstance(node, DirectoryNode):
            raise StorageError(f"Could not open {path}: Is a directory")
        if node is None:
            node = self._create(path, is_wanted=create or exclusive)
        return self._make_file(path, node)

    def exists(self, path: str) -> bool:
        """Whether the name is taken."""
        return self._find(path) is not None

    def is_directory(self, path: str) -> bool:
        """Whether it is a directory."""
        return isinstance(self._find(path), DirectoryNode)

    def size(self, path: str) -> int:
        """A file's length by name."""
        return len(self._file(path).cached)

    def list_directory(self, path: str) -> list[str]:
        """The names inside, sorted."""
        return sorted(self._directory(path).entries)

    def make_directory(self, path: str) -> None:
        """Make one directory."""
        parent, name = self._parent(path)
        if name in parent.entries:
            raise PathExistsError(f"Could not make directory {path}: File exists")
        self.machine.record(Operation("make_directory", path))
        parent.change(Link(name, DirectoryNode()))

    def make_private(self, path: str) -> bool:
        """There is only one user here."""
        self._directory(path)
        return True

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        if self._directory(path).entries:
            raise StorageError(f"Could not remove directory {path}: Directory not empty")
        parent, name = self._parent(path)
        self.machine.record(Operation("remove_directory", path))
        parent.change(Unlink(name))

    def rename(self, source: str, target: str) -> None:
        """Move a name inside its directory, replacing a file of the target's."""
        parent, name = self._parent(source)
        other_parent, other_name = self._parent(target)
        if parent is not other_parent:
            raise StorageError(f"Could not rename to {target}: {source}: they are in different directories")
        moved, replaced = parent.entries.get(name), parent.entries.get(other_name)
        if moved is None:
            raise PathMissingError(f"Could not rename to {target}: {source}: No such file or directory")
        if isinstance(moved, DirectoryNode) and replaced is not None:
            raise StorageError(f"Could not rename to {target}: {source}: Directory not empty")
        if isinstance(replaced, DirectoryNode):
            raise StorageError(f"Could not rename to {target}: {source}: Is a directory")
        self.machine.record(Operation("rename", source))
        parent.change(Rename(name, other_name))
        if replaced is not None and replaced is not moved:
            self._forget_name(replaced)

    def unlink(self, path: str) -> None:
        """Remove a file's name."""
        node = self._file(path)
        parent, name = self._parent(path)
        self.machine.record(Operation("unlink", path))
        parent.change(Unlink(name))
        self._forget_name(node)

    def sync_directory(self, path: str) -> None:
        """Make the names inside durable."""
        node = self._directory(path)
        self.machine.record(Operation("sync_directory", path))
        if path in self._failed_directories or self.machine.takes_flush_fault(path):
            self._failed_directories.add(path)
            raise FlushFailedError(f"Could not flush directory {path}: Input/output error")
        node.sync()

    def read_file(self, path: str) -> bytes:
        """All bytes as processes see them."""
        return bytes(self._file(path).cached)

    def usage(self, path: str) -> DiskUsage:
        """The simulated disk's room."""
        self._directory(path)
        return DiskUsage(total_bytes=self.capacity_bytes, free_bytes=self.free_bytes)

    def lock(self, path: str) -> MemoryLock:
        """Hold the lock file, making it if missing."""
        self.open(path, create=True).close()
        if path in self.locks:
            raise DirectoryInUseError(f"Another process holds {path}; only one may use its directory")
        self.locks[path] = MemoryLock(self, path)
        return self.locks[path]

    def free_if_unused(self, node: FileNode) -> None:
        """Give back the room of a file that has neither name nor user."""
        if not node.is_linked and node.handles == 0:
            self.used_bytes -= len(node.cached)

    def _make_file(self, path: str, node: FileNode) -> MemoryFile:
        return MemoryFile(self, path, node)

    def _create(self, path: str, *, is_wanted: bool) -> FileNode:
        if not is_wanted:
            raise PathMissingError(f"Could not open {path}: No such file or directory")
        self.machine.record(Operation("create", path))
        node = FileNode()
        parent, name = self._parent(path)
        parent.change(Link(name, node))
        return node

    def _forget_name(self, node: FileNode) -> None:
        node.is_linked = False
        self.free_if_unused(node)

    def _parent(self, path: str) -> tuple[DirectoryNode, str]:
        names = _names(path)
        if not names:
            raise StorageError(f"{path} has no parent")
        return self._directory_of(names[:-1], path), names[-1]

    def _find(self, path: str) -> Node | None:
        self.machine.check_running()
        node: Node | None = self._root
        for name in _names(path):
            node = node.entries.get(name) if isinstance(node, DirectoryNode) else None
        return node

    def _file(self, path: str) -> FileNode:
        node = self._find(path)
        if node is None:
            raise PathMissingError(f"There is no {path}")
        if isinstance(node, DirectoryNode):
            raise StorageError(f"{path} is a directory")
        return node

    def _directory(self, path: str) -> DirectoryNode:
        return self._directory_of(_names(path), path)

    def _directory_of(self, names: list[str], path: str) -> DirectoryNode:
        node = self._find("/".join(names))
        if node is None:
            raise PathMissingError(f"There is no {'/'.join(names)} ({path})")
        if isinstance(node, FileNode):
            raise StorageError(f"{'/'.join(names)} is no directory ({path})")
        return node

    def _restart(self) -> None:
        """Start the next process on the names and bytes that are there; nobody holds a nameless file now."""
        self.machine.restart()
        self.locks.clear()
        self._failed_directories.clear()
        self.used_bytes = 0
        remaining: list[Node] = [self._root]
        while remaining:
            node = remaining.pop()
            if isinstance(node, DirectoryNode):
                remaining.extend(node.entries.values())
            else:
                self.used_bytes += len(node.cached)
                node.is_linked = True
                node.handles = 0


def _names(path: str) -> list[str]:
    """A path's parts, from the root; there is no current directory and no way up."""
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise StorageError(f"{path} leads upwards")
    return names
