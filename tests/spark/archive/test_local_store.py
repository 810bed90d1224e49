"""What an archive asks of a directory."""

import os
from pathlib import Path

import pytest

from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.stores.local_store import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "archive")


def test_created_file_has_its_bytes_and_leaves_nothing_else(store: LocalStore) -> None:
    assert store.create("_manifest/1.json", b"one")

    assert store.read("_manifest/1.json") == b"one"
    assert store.names("_manifest") == ["1.json"]


def test_taken_name_is_not_overwritten(store: LocalStore) -> None:
    store.create("a/1", b"one")

    assert not store.create("a/1", b"two")
    assert store.read("a/1") == b"one"
    assert store.names("a") == ["1"]


def test_file_system_without_hard_links_is_refused(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: object, target: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)

    with pytest.raises(ArchiveError, match="keep the archive on another file system"):
        store.create("a/1", b"one")
    assert store.names("a") == []


def test_moved_files_are_in_directories_made_for_them(store: LocalStore) -> None:
    store.create("_staging/x/part-0", b"zero")
    store.create("_staging/x/part-1", b"one")

    store.move([("_staging/x/part-0", "topic=t/date=d/a"), ("_staging/x/part-1", "topic=t/date=e/b")])

    assert [file.path for file in store.files("")] == ["topic=t/date=d/a", "topic=t/date=e/b"]
    assert store.read("topic=t/date=e/b") == b"one"
    assert store.names("_staging/x") == []


def test_files_are_listed_with_size_and_time_without_hidden_directories(
    store: LocalStore, tmp_path: Path
) -> None:
    store.create("topic=t/a", b"12345")
    store.create("_manifest/1", b"")
    os.utime(tmp_path / "archive/topic=t/a", (1, 1.5))

    assert list(store.files("")) == [("topic=t/a", 5, 1500)]
    assert list(store.files("nowhere")) == []


def test_deleting_takes_files_directories_and_nothing(store: LocalStore) -> None:
    store.create("a/b/1", b"")
    store.create("a/c/2", b"")

    store.delete("a/b")
    store.delete("a/c/2")
    store.delete("a/c/3")

    assert store.directories("a") == ["c"]
    assert store.names("a/c") == []
    assert store.names("nowhere") == []


def test_paths_are_recognised_in_what_spark_calls_a_file(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "with blank")

    assert store.path_of(f"file://{tmp_path}/with%20blank/a/b%25c") == "a/b%c"
    assert store.path_of(store.uri("a/b")) == "a/b"
