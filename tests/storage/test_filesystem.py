"""The contract of the file system seam, held to by every implementation."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from penstock.model.errors import DirectoryInUseError, StorageError
from penstock.storage.faulty_filesystem import FaultyFileSystem
from penstock.storage.filesystem import (
    File,
    FileSystem,
    PathExistsError,
    PathMissingError,
    join_path,
    parent_directory,
)
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.real_filesystem import RealFileSystem


@dataclass
class Place:
    """A file system and a directory in it that the test may fill."""

    fs: FileSystem
    root: str

    def path(self, name: str) -> str:
        return join_path(self.root, name)

    def create(self, name: str, content: bytes = b"") -> File:
        file = self.fs.open(self.path(name), exclusive=True)
        file.write(0, [content])
        return file


@pytest.fixture(params=["real", "memory", "faulty"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "real":
        return Place(RealFileSystem(), str(tmp_path))
    if request.param == "faulty":
        return Place(FaultyFileSystem(RealFileSystem(), ""), str(tmp_path))
    memory = MemoryFileSystem(Random(1))
    memory.make_directory("/data")
    return Place(memory, "/data")


def test_open_missing_file_is_refused(place: Place) -> None:
    with pytest.raises(PathMissingError):
        place.fs.open(place.path("nothing"))


def test_open_in_missing_directory_is_refused(place: Place) -> None:
    with pytest.raises(PathMissingError):
        place.fs.open(place.path("nowhere/file"), create=True)


def test_open_with_create_makes_and_then_finds_the_file(place: Place) -> None:
    with_content = place.fs.open(place.path("file"), create=True)
    with_content.write(0, [b"kept"])
    again = place.fs.open(place.path("file"), create=True)
    assert again.read(0, 10) == b"kept"
    assert again.path == place.path("file")
    with_content.close()
    again.close()


def test_open_exclusive_refuses_an_existing_file(place: Place) -> None:
    place.create("file").close()
    with pytest.raises(PathExistsError):
        place.fs.open(place.path("file"), exclusive=True)


def test_open_directory_is_refused(place: Place) -> None:
    place.fs.make_directory(place.path("directory"))
    with pytest.raises(StorageError):
        place.fs.open(place.path("directory"))


def test_write_gathers_buffers_of_every_kind_in_order(place: Place) -> None:
    file = place.create("file")
    file.write(0, [b"one ", bytearray(b"two "), memoryview(b"and three")[4:]])
    file.write(4, [b"TWO"])
    assert file.read(0, 100) == b"one TWO three"
    assert file.size() == 13
    file.close()


def test_write_of_many_buffers_writes_all(place: Place) -> None:
    file = place.create("file")
    buffers = [index.to_bytes(2, "big") for index in range(2500)]
    file.write(7, buffers)
    assert file.read(0, 10_000) == bytes(7) + b"".join(buffers)
    file.close()


def test_write_of_nothing_changes_nothing(place: Place) -> None:
    file = place.create("file")
    file.write(5, [])
    file.write(5, [b"", b""])
    assert file.size() == 0
    file.close()


def test_write_at_negative_position_is_refused(place: Place) -> None:
    file = place.create("file")
    with pytest.raises(StorageError):
        file.write(-1, [b"x"])
    file.close()


def test_read_at_the_end_is_short(place: Place) -> None:
    file = place.create("file", b"0123456789")
    assert file.read(8, 5) == b"89"
    assert file.read(10, 5) == b""
    assert file.read(99, 5) == b""
    assert file.read(3, 0) == b""
    file.close()


def test_read_at_negative_position_is_refused(place: Place) -> None:
    file = place.create("file", b"0123456789")
    with pytest.raises(StorageError):
        file.read(-1, 5)
    file.close()


def test_truncate_cuts_and_extends_by_zeros(place: Place) -> None:
    file = place.create("file", b"0123456789")
    file.truncate(4)
    file.truncate(6)
    assert file.read(0, 100) == b"0123\0\0"
    with pytest.raises(StorageError):
        file.truncate(-1)
    file.close()


def test_preallocate_grows_by_zeros_and_never_shrinks(place: Place) -> None:
    file = place.create("file", b"abc")
    file.preallocate(8)
    assert file.read(0, 100) == b"abc" + bytes(5)
    file.preallocate(2)
    file.preallocate(0)
    assert file.size() == 8
    file.close()


def test_flush_keeps_the_bytes(place: Place) -> None:
    file = place.create("file", b"abc")
    file.flush()
    file.flush()
    assert file.read(0, 3) == b"abc"
    file.close()


def test_is_resident_of_bytes_just_written_is_true(place: Place) -> None:
    file = place.create("file", b"abc")
    assert file.is_resident(0, 3)
    assert file.is_resident(0, 0)
    file.close()


def test_close_twice_is_harmless_and_use_after_it_is_refused(place: Place) -> None:
    file = place.create("file", b"abc")
    file.close()
    file.close()
    with pytest.raises(StorageError):
        file.read(0, 3)
    with pytest.raises(StorageError):
        file.write(0, [b"x"])
    with pytest.raises(StorageError):
        file.truncate(0)
    with pytest.raises(StorageError):
        file.flush()
    with pytest.raises(StorageError):
        file.size()
    with pytest.raises(StorageError):
        file.preallocate(5)


def test_exists_and_is_directory_tell_files_from_directories(place: Place) -> None:
    place.create("file").close()
    place.fs.make_directory(place.path("directory"))
    assert place.fs.exists(place.path("file"))
    assert place.fs.exists(place.path("directory"))
    assert not place.fs.exists(place.path("nothing"))
    assert place.fs.is_directory(place.path("directory"))
    assert not place.fs.is_directory(place.path("file"))
    assert not place.fs.is_directory(place.path("nothing"))


def test_size_by_name_answers_the_length(place: Place) -> None:
    place.create("file", b"12345").close()
    assert place.fs.size(place.path("file")) == 5
    with pytest.raises(PathMissingError):
        place.fs.size(place.path("nothing"))


def test_list_directory_is_sorted(place: Place) -> None:
    for name in ("b", "c", "a", "B"):
        place.create(name).close()
    assert place.fs.list_directory(place.root) == ["B", "a", "b", "c"]


def test_list_directory_of_a_missing_one_or_a_file_is_refused(place: Place) -> None:
    with pytest.raises(PathMissingError):
        place.fs.list_directory(place.path("nothing"))
    place.create("file").close()
    with pytest.raises(StorageError):
        place.fs.list_directory(place.path("file"))


def test_make_directory_twice_or_without_parent_is_refused(place: Place) -> None:
    place.fs.make_directory(place.path("directory"))
    with pytest.raises(PathExistsError):
        place.fs.make_directory(place.path("directory"))
    with pytest.raises(PathMissingError):
        place.fs.make_directory(place.path("nowhere/directory"))


def test_make_private_of_our_own_directory_succeeds(place: Place) -> None:
    assert place.fs.make_private(place.root)
    with pytest.raises(PathMissingError):
        place.fs.make_private(place.path("nothing"))


def test_remove_directory_only_when_empty(place: Place) -> None:
    place.fs.make_directory(place.path("directory"))
    place.create("directory/file").close()
    with pytest.raises(StorageError):
        place.fs.remove_directory(place.path("directory"))
    place.fs.unlink(place.path("directory/file"))
    place.fs.remove_directory(place.path("directory"))
    assert not place.fs.exists(place.path("directory"))
    with pytest.raises(PathMissingError):
        place.fs.remove_directory(place.path("directory"))


def test_rename_file_replaces_the_target_and_open_files_follow(place: Place) -> None:
    old = place.create("old", b"new content")
    replaced = place.create("target", b"previous")
    place.fs.rename(place.path("old"), place.path("target"))
    assert place.fs.list_directory(place.root) == ["target"]
    assert place.fs.read_file(place.path("target")) == b"new content"
    assert replaced.read(0, 100) == b"previous"
    old.write(0, [b"NEW"])
    assert place.fs.read_file(place.path("target")) == b"NEW content"
    old.close()
    replaced.close()


def test_rename_directory_keeps_what_is_inside(place: Place) -> None:
    place.fs.make_directory(place.path("old"))
    place.create("old/file", b"inside").close()
    place.fs.rename(place.path("old"), place.path("new"))
    assert place.fs.read_file(place.path("new/file")) == b"inside"
    assert not place.fs.exists(place.path("old"))


def test_rename_to_itself_changes_nothing(place: Place) -> None:
    place.create("file", b"same").close()
    place.fs.rename(place.path("file"), place.path("file"))
    assert place.fs.read_file(place.path("file")) == b"same"


def test_rename_of_nothing_or_onto_a_full_directory_is_refused(place: Place) -> None:
    place.fs.make_directory(place.path("full"))
    place.create("full/file").close()
    place.fs.make_directory(place.path("other"))
    place.create("file").close()
    with pytest.raises(PathMissingError):
        place.fs.rename(place.path("nothing"), place.path("target"))
    with pytest.raises(StorageError):
        place.fs.rename(place.path("other"), place.path("full"))
    with pytest.raises(StorageError):
        place.fs.rename(place.path("file"), place.path("full"))


def test_rename_across_directories_is_refused(place: Place) -> None:
    place.fs.make_directory(place.path("directory"))
    place.create("file").close()
    with pytest.raises(StorageError):
        place.fs.rename(place.path("file"), place.path("directory/file"))


def test_unlink_leaves_open_files_usable(place: Place) -> None:
    file = place.create("file", b"still here")
    place.fs.unlink(place.path("file"))
    assert not place.fs.exists(place.path("file"))
    assert file.read(0, 100) == b"still here"
    file.close()
    with pytest.raises(PathMissingError):
        place.fs.unlink(place.path("file"))


def test_sync_directory_needs_a_directory(place: Place) -> None:
    place.create("file").close()
    place.fs.sync_directory(place.root)
    with pytest.raises(StorageError):
        place.fs.sync_directory(place.path("file"))
    with pytest.raises(PathMissingError):
        place.fs.sync_directory(place.path("nothing"))


def test_read_file_answers_everything(place: Place) -> None:
    place.create("file", bytes(range(256)) * 300).close()
    assert place.fs.read_file(place.path("file")) == bytes(range(256)) * 300
    with pytest.raises(PathMissingError):
        place.fs.read_file(place.path("nothing"))


def test_usage_has_room_within_the_total(place: Place) -> None:
    usage = place.fs.usage(place.root)
    assert 0 < usage.free_bytes <= usage.total_bytes
    with pytest.raises(PathMissingError):
        place.fs.usage(place.path("nothing"))


def test_lock_is_exclusive_until_released(place: Place) -> None:
    lock = place.fs.lock(place.path("LOCK"))
    with pytest.raises(DirectoryInUseError, match="LOCK"):
        place.fs.lock(place.path("LOCK"))
    lock.release()
    again = place.fs.lock(place.path("LOCK"))
    lock.release()
    with pytest.raises(DirectoryInUseError):
        place.fs.lock(place.path("LOCK"))
    again.release()


@pytest.mark.parametrize(
    ("directory", "name", "path"), [("/a", "b", "/a/b"), ("/", "b", "/b"), ("a/", "b", "a/b")]
)
def test_join_path_puts_one_separator(directory: str, name: str, path: str) -> None:
    assert join_path(directory, name) == path


@pytest.mark.parametrize(
    ("path", "parent"), [("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("a", "."), ("a/b/c", "a/b")]
)
def test_parent_directory_is_what_must_be_synced(path: str, parent: str) -> None:
    assert parent_directory(path) == parent
