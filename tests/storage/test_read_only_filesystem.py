"""A file system behind glass: everything can be read, nothing changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.model.errors import StorageError
from penstock.storage.filesystem import PathMissingError
from penstock.storage.read_only_filesystem import ReadOnlyError, ReadOnlyFileSystem

FILES = ReadOnlyFileSystem()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file that its owner may write."""
    (tmp_path / "file").write_bytes(b"content")
    return str(tmp_path / "file")


def test_file_can_be_read_even_if_nobody_may_write_it(path: str) -> None:
    Path(path).chmod(0o400)
    file = FILES.open(path)

    assert file.read(3, 4) == b"tent"
    file.close()


def test_open_file_cannot_be_written_though_its_owner_may(path: str) -> None:
    file = FILES.open(path)

    with pytest.raises(StorageError):
        file.write(0, [b"x"])
    with pytest.raises(StorageError):
        file.truncate(0)
    file.close()
    assert Path(path).read_bytes() == b"content"


@pytest.mark.parametrize(
    "change",
    [
        lambda path: FILES.open(path + "2", create=True),
        lambda path: FILES.open(path + "2", exclusive=True),
        lambda path: FILES.make_directory(path + "2"),
        lambda path: FILES.make_private(path),
        lambda path: FILES.remove_directory(path),
        lambda path: FILES.rename(path, path + "2"),
        lambda path: FILES.unlink(path),
        lambda path: FILES.sync_directory(path),
        lambda path: FILES.lock(path),
    ],
    ids=["create", "exclusive", "mkdir", "chmod", "rmdir", "rename", "unlink", "sync", "lock"],
)
def test_change_of_any_kind_is_refused(path: str, change: Callable[[str], object]) -> None:
    before = sorted(Path(path).parent.iterdir())

    with pytest.raises(ReadOnlyError, match="only looked at"):
        change(path)
    assert sorted(Path(path).parent.iterdir()) == before


def test_missing_file_is_told_apart(path: str) -> None:
    with pytest.raises(PathMissingError):
        FILES.open(path + "2")
