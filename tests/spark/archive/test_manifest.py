"""Commits of several writers, snapshots, and readers in between."""

from functools import partial
from pathlib import Path

import pytest
from tests.spark.archive.some_files import a_batch, a_file

from penstock.spark.archive import manifest as module
from penstock.spark.archive.commits import Commit, CommitKind
from penstock.spark.archive.errors import ArchiveError, DamagedArchiveError
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.paths import MANIFEST, commit_path, snapshot_path
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.local_store import LocalStore

COMMITS_PER_SNAPSHOT = 5
NOTHING = Commit(kind=CommitKind.CLEANING, at_ms=0)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


@pytest.fixture(autouse=True)
def frequent_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since every commit waits for the disk."""
    monkeypatch.setattr(module, "COMMITS_PER_SNAPSHOT", COMMITS_PER_SNAPSHOT)


def add(manifest: Manifest, count: int, *, start: int = 0) -> ArchiveState:
    """So many commits of one file each."""
    commits = (
        a_batch(number, a_file(f"{number}", first=10 * number, last=10 * number + 9))
        for number in range(start, start + count)
    )
    for commit in commits:
        manifest.commit(partial(_always, commit))
    return manifest.load()


def _always(commit: Commit, state: ArchiveState) -> Commit:
    return commit


def test_manifest_of_a_new_directory_has_nothing(store: LocalStore) -> None:
    assert Manifest(store).load() == ArchiveState()


def test_commits_are_seen_by_another_reader(store: LocalStore) -> None:
    written = add(Manifest(store), 3)

    assert Manifest(store).load() == written
    assert len(written.files) == 3


def test_empty_commit_is_not_written(store: LocalStore) -> None:
    Manifest(store).commit(lambda _: NOTHING)

    assert store.names(MANIFEST) == []


def test_writer_that_comes_second_decides_again(store: LocalStore) -> None:
    first, second = Manifest(store), Manifest(store)
    seen: list[int] = []

    def decide(state: ArchiveState) -> Commit:
        seen.append(state.version)
        if len(seen) == 1:
            add(first, 1)  # Somebody else takes the number between our reading and our writing.
        return a_batch(7, a_file("mine", first=70, last=79))

    state = second.commit(decide)

    assert seen == [-1, 0]
    assert state.version == 1
    assert len(state.files) == 2
    assert first.load() == state


def test_writer_that_slept_while_its_number_was_taken_and_forgotten_is_told(store: LocalStore) -> None:
    first, second = Manifest(store), Manifest(store)
    add(first, 1)

    def decide(state: ArchiveState) -> Commit:
        if state.version == 0:
            add(first, 4 * COMMITS_PER_SNAPSHOT, start=1)
            with pytest.raises(FileNotFoundError):
                store.read(commit_path(1))
        return a_batch(99, a_file("mine", first=990, last=999))

    with pytest.raises(ArchiveError, match=r"others have committed .* up to 20, so its own commit 1 may be"):
        second.commit(decide)

    assert Manifest(store).load() == first.load()
    state = second.commit(decide)
    assert len(state.files) == 4 * COMMITS_PER_SNAPSHOT + 2
    assert Manifest(store).load() == state


def test_writer_that_never_wins_gives_up(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMMIT_ATTEMPTS_MAX", 3)
    others = Manifest(store)

    def decide(state: ArchiveState) -> Commit:
        add(others, 1, start=state.version + 1)
        return a_batch(99, a_file("mine", first=990, last=999))

    with pytest.raises(ArchiveError, match="for 3 times: let fewer write"):
        Manifest(store).commit(decide)


def test_history_stays_short_and_says_the_same(store: LocalStore) -> None:
    state = add(Manifest(store), 4 * COMMITS_PER_SNAPSHOT + 3)

    assert Manifest(store).load() == state
    assert len(store.names(MANIFEST)) <= 2 * COMMITS_PER_SNAPSHOT + 2


def test_reader_that_fell_behind_goes_on_from_a_snapshot(store: LocalStore) -> None:
    reader = Manifest(store)
    writer = Manifest(store)
    add(writer, 1)
    assert reader.load().version == 0

    state = add(writer, 3 * COMMITS_PER_SNAPSHOT, start=1)

    with pytest.raises(FileNotFoundError):
        store.read(commit_path(1))
    assert reader.load() == state


def test_missing_commit_is_damage(store: LocalStore) -> None:
    add(Manifest(store), 5)
    store.delete(commit_path(2))

    with pytest.raises(DamagedArchiveError, match=r"00002\.json.*Restore it from a copy"):
        Manifest(store).load()


def test_interrupted_tidying_changes_nothing(store: LocalStore) -> None:
    """A crash while old commits are deleted leaves some of them, in any combination."""
    writer = Manifest(store)
    state = add(writer, COMMITS_PER_SNAPSHOT - 1)
    writer.write_snapshot()
    for version in (0, 2, 3):
        store.delete(commit_path(version))

    assert Manifest(store).load() == state
    assert add(Manifest(store), 1, start=COMMITS_PER_SNAPSHOT).version == state.version + 1


def test_crash_before_a_snapshot_is_whole_leaves_none(store: LocalStore, tmp_path: Path) -> None:
    state = add(Manifest(store), 3)
    half = tmp_path / MANIFEST / f".{snapshot_path(2).rpartition('/')[2]}.0123456789abcdef"
    half.write_bytes(b'{"format": 1, "vers')

    assert Manifest(store).load() == state
