"""What an archive needs of a file system.

Parquet files are written and read by Spark; a store looks after everything else: moving them, deleting them,
and the small files of the manifest, one of which must appear whole or not at all, and never in place of
another.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol


class StoredFile(NamedTuple):
    """A file as it is found."""

    path: str
    size_bytes: int
    modified_ms: int


class Store(Protocol):
    """The directory of one archive. Paths are relative to it."""

    def uri(self, path: str) -> str:
        """A path as Spark takes it."""
        ...

    def path_of(self, uri: str) -> str:
        """The path behind what Spark calls a file."""
        ...

    def read(self, path: str) -> bytes:
        """The whole file; ``FileNotFoundError`` if there is none."""
        ...

    def create(self, path: str, data: bytes) -> bool:
        """Make a file appear at once and whole, durably; False, and nothing changed, if the path is taken."""
        ...

    def names(self, directory: str) -> list[str]:
        """The names of all files of a directory, in order; none if there is no directory."""
        ...

    def directories(self, directory: str) -> list[str]:
        """The names of all directories below one, in order."""
        ...

    def files(self, directory: str) -> Iterator[StoredFile]:
        """All files below a directory, but for those in directories whose names begin with ``_``."""
        ...

    def move(self, moves: Iterable[tuple[str, str]]) -> None:
        """Give files other paths, durably with all they hold."""
        ...

    def delete(self, path: str) -> None:
        """Delete a file, or a directory with everything in it; nothing if there is none."""
        ...
