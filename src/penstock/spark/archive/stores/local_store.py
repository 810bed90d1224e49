"""An archive in a directory of this machine, or of one that is mounted here.

A file that has been created or moved here is on disk with its directory before the call returns, so a commit
never names what a power failure could take away. Taking a name that is taken is excluded by ``link``.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.stores.store import StoredFile


class LocalStore:
    """Files by the operating system's own means."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    def uri(self, path: str) -> str:
        """A path as Spark takes it."""
        return f"file://{self._root / path}"

    def path_of(self, uri: str) -> str:
        """The path behind what Spark calls a file."""
        # Spark names files by URIs, in which characters such as blanks are written as %20.
        return Path(unquote(urlsplit(uri).path)).relative_to(self._root).as_posix()

    def read(self, path: str) -> bytes:
        """The whole file; ``FileNotFoundError`` if there is none."""
        return (self._root / path).read_bytes()

    def create(self, path: str, data: bytes) -> bool:
        """Make a file appear at once and whole, durably; False, and nothing changed, if the path is taken."""
        target = self._root / path
        temporary = _written_beside(target, data)
        try:
            os.link(temporary, target)
        except FileExistsError:
            return False
        except OSError as error:
            raise ArchiveError(
                f"{target} cannot be made by a hard link, without which two writers could overwrite each "
                f"other's commits: keep the archive on another file system. ({error})"
            ) from error
        finally:
            temporary.unlink()
        _flush_directory(target.parent)
        return True

    def names(self, directory: str) -> list[str]:
        """The names of all files of a directory, in order; none if there is no directory."""
        return sorted(
            entry.name
            for entry in self._entries(directory)
            if entry.is_file() and not entry.name.startswith(".")
        )

    def directories(self, directory: str) -> list[str]:
        """The names of all directories below one, in order."""
        return sorted(entry.name for entry in self._entries(directory) if entry.is_dir())

    def files(self, directory: str) -> Iterator[StoredFile]:
        """All files below a directory, but for those in directories whose names begin with ``_``."""
        for name, directories, names in os.walk(self._root / directory):
            directories[:] = sorted(each for each in directories if not each.startswith("_"))
            yield from self._stored(Path(name), names)

    def move(self, moves: Iterable[tuple[str, str]]) -> None:
        """Give files other paths, durably with all they hold."""
        changed: set[Path] = set()
        for source, target in moves:
            to = self._root / target
            changed.update(_made_directory(to.parent))
            _flush_file(self._root / source)
            (self._root / source).rename(to)
            changed.add(to.parent)
        for directory in sorted(changed):
            _flush_directory(directory)

    def delete(self, path: str) -> None:
        """Delete a file, or a directory with everything in it; nothing if there is none."""
        target = self._root / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._root / directory) as entries:
                return list(entries)
        except FileNotFoundError:
            return []

    def _stored(self, directory: Path, names: list[str]) -> Iterator[StoredFile]:
        for name in sorted(names):
            try:
                found = (directory / name).stat()
            except FileNotFoundError:
                continue  # Somebody else has just deleted or moved it.
            path = (directory / name).relative_to(self._root).as_posix()
            yield StoredFile(path, found.st_size, found.st_mtime_ns // 1_000_000)


def _written_beside(target: Path, data: bytes) -> Path:
    """A durable file with another name in the directory of ``target``, from where it can take its place."""
    for directory in _made_directory(target.parent):
        _flush_directory(directory)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return temporary


def _made_directory(directory: Path) -> list[Path]:
    """Make a directory with those above it; those whose contents that has changed."""
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    return [each.parent for each in missing]


def _flush_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _flush_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
