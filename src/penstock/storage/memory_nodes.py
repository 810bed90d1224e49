"""What a simulated disk is made of: files and directories that remember what has reached the platter.

Each node holds two states. The *cached* one is what every process sees; the *durable* one is what would be
found after the power went. Between them stand the operations not yet flushed, in order. When power is lost
each of those is kept, dropped or torn by chance, the way POSIX allows: later writes may survive earlier ones,
a write may survive only in some of its 512-byte sectors, and a new size may or may not have been recorded.
Names in one directory are kinder, as on a journalling file system: some first part of them survives.
"""

from random import Random
from typing import NamedTuple, TypeAlias

SECTOR_BYTES = 512
PENDING_OPERATIONS_MAX = 4096
"""Of one file; beyond it the oldest become durable, as if the kernel had written them back by itself."""


class PendingWrite(NamedTuple):
    """Bytes in the page cache that the platter may lack."""

    position: int
    data: bytes


class PendingResize(NamedTuple):
    """A new length that the platter may lack."""

    size: int


class Link(NamedTuple):
    """A name given to a new node."""

    name: str
    node: "Node"


class Unlink(NamedTuple):
    """A name taken away."""

    name: str


class Rename(NamedTuple):
    """A name moved, atomically."""

    source: str
    target: str


class FileNode:
    """The bytes of one file, seen and durable."""

    __slots__ = ("cached", "durable", "handles", "is_linked", "pending")

    def __init__(self) -> None:
        self.cached = bytearray()
        self.durable = bytearray()
        self.pending: list[PendingWrite | PendingResize] = []
        self.is_linked = True
        self.handles = 0

    def write(self, position: int, data: bytes) -> None:
        """Change the page cache only."""
        self._change(PendingWrite(position, data))

    def resize(self, size: int) -> None:
        """Change the length, in the page cache only."""
        self._change(PendingResize(size))

    def flush(self) -> None:
        """Make everything seen so far durable."""
        pending, self.pending = self.pending, []
        for operation in pending:
            _apply(self.durable, operation)

    def fail_flush(self, rng: Random) -> None:
        """Lose part of what was pending while its pages count as clean, so that the next flush succeeds."""
        pending, self.pending = self.pending, []
        _apply_by_chance(self.durable, pending, rng)

    def lose_power(self, rng: Random) -> None:
        """Become what a machine finds when it comes back."""
        self.fail_flush(rng)
        self.cached = bytearray(self.durable)

    def _change(self, operation: PendingWrite | PendingResize) -> None:
        _apply(self.cached, operation)
        self.pending.append(operation)
        if len(self.pending) > PENDING_OPERATIONS_MAX:
            _apply(self.durable, self.pending.pop(0))


class DirectoryNode:
    """The names in one directory, seen and durable."""

    __slots__ = ("durable", "entries", "pending")

    def __init__(self) -> None:
        self.entries: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}
        self.pending: list[Link | Unlink | Rename] = []

    def change(self, operation: Link | Unlink | Rename) -> None:
        """Change the names that processes see."""
        _apply_to_names(self.entries, operation)
        self.pending.append(operation)

    def sync(self) -> None:
        """Make all names durable."""
        pending, self.pending = self.pending, []
        for operation in pending:
            _apply_to_names(self.durable, operation)

    def lose_power(self, rng: Random) -> None:
        """Keep some first part of the pending names, and let everything below lose power too."""
        for operation in self.pending[: rng.randint(0, len(self.pending))]:
            _apply_to_names(self.durable, operation)
        self.pending = []
        self.entries = dict(sorted(self.durable.items()))
        for node in self.entries.values():
            node.lose_power(rng)


Node: TypeAlias = FileNode | DirectoryNode


def _apply(content: bytearray, operation: PendingWrite | PendingResize) -> None:
    if isinstance(operation, PendingWrite):
        position, data = operation
        if len(content) < position:
            content.extend(bytes(position - len(content)))
        content[position : position + len(data)] = data
    elif operation.size < len(content):
        del content[operation.size :]
    else:
        content.extend(bytes(operation.size - len(content)))


def _apply_to_names(names: dict[str, Node], operation: Link | Unlink | Rename) -> None:
    match operation:
        case Link(name, node):
            names[name] = node
        case Unlink(name):
            del names[name]
        case Rename(source, target):
            names[target] = names.pop(source)


def _apply_by_chance(content: bytearray, pending: list[PendingWrite | PendingResize], rng: Random) -> None:
    """Let each operation happen, not happen or, if it is a write, happen in parts."""
    for operation in pending:
        fate = rng.random()
        if fate < 0.4:
            _apply(content, operation)
        elif fate < 0.7 and isinstance(operation, PendingWrite):
            _apply_torn(content, operation, rng)


def _apply_torn(content: bytearray, write: PendingWrite, rng: Random) -> None:
    """Let some sectors of a write reach the platter; the size may grow over those that did not."""
    sectors = _sectors(write)
    if rng.random() < 0.5:
        survivors = sectors[: rng.randint(0, len(sectors))]
    else:
        survivors = [sector for sector in sectors if rng.random() < 0.5]
    for sector in survivors:
        _apply(content, sector)
    end = write.position + len(write.data)
    if len(content) < end and rng.random() < 0.5:
        _apply(content, PendingResize(end))


def _sectors(write: PendingWrite) -> list[PendingWrite]:
    """The write cut where the platter's sectors begin."""
    position, data = write
    first = SECTOR_BYTES - position % SECTOR_BYTES
    starts = [0, *range(first, len(data), SECTOR_BYTES)]
    ends = [*starts[1:], len(data)]
    return [PendingWrite(position + start, data[start:end]) for start, end in zip(starts, ends, strict=True)]
