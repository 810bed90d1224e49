"""What is deleted when, and what never."""

import os
from pathlib import Path

import pytest
from tests.spark.archive.some_files import NOON, a_batch, a_file, a_merge

from penstock.spark.archive.cleaning import ATTEMPT_MS_MAX, DAY_MS, clean
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.stores.local_store import LocalStore

GRACE_MS = 1000
QUERY = "1f0c9a2e-0000-0000-0000-000000000000"
NOW_MS = 100 * DAY_MS
FIRST = a_file("first", first=0, last=9)
SECOND = a_file("second", first=10, last=19)
BOTH = a_file("both", first=0, last=19)


class Cleaned:
    """An archive whose files exist, with times of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = LocalStore(directory)
        self.manifest = Manifest(self.store)

    def put(self, path: str, *, age_ms: int) -> str:
        self.store.create(path, b"")
        os.utime(self.directory / path, ns=(0, (NOW_MS - age_ms) * 1_000_000))
        return path

    def clean(self, *, grace_ms: int = GRACE_MS) -> tuple[list[str], list[str]]:
        removed, orphans = clean(self.store, self.manifest, grace_ms=grace_ms, now_ms=NOW_MS)
        return list(removed), list(orphans)

    def there(self) -> set[str]:
        return {file.path for file in self.store.files("")}


@pytest.fixture
def archive(tmp_path: Path) -> Cleaned:
    return Cleaned(tmp_path)


def merged(archive: Cleaned, *, age_ms: int) -> None:
    for file in (FIRST, SECOND, BOTH):
        archive.put(file.path, age_ms=10 * DAY_MS)
    archive.manifest.commit(lambda _: a_batch(5, FIRST, SECOND, query_id=QUERY))
    archive.manifest.commit(lambda _: a_merge(BOTH, of=(FIRST, SECOND), at_ms=NOW_MS - age_ms))


def test_replaced_files_stay_for_the_grace_time(archive: Cleaned) -> None:
    merged(archive, age_ms=GRACE_MS - 1)

    assert archive.clean() == ([], [])
    assert archive.there() == {FIRST.path, SECOND.path, BOTH.path}


def test_replaced_files_are_deleted_and_forgotten_after_it(archive: Cleaned) -> None:
    merged(archive, age_ms=GRACE_MS)

    assert archive.clean() == ([FIRST.path, SECOND.path], [])
    assert archive.there() == {BOTH.path}
    state = Manifest(archive.store).load()
    assert not state.removed
    assert list(state.files) == [BOTH.path]


def test_crash_between_deleting_and_forgetting_is_made_good(archive: Cleaned) -> None:
    merged(archive, age_ms=GRACE_MS)
    archive.store.delete(FIRST.path)

    assert archive.clean() == ([FIRST.path, SECOND.path], [])
    assert archive.clean() == ([], [])


def test_files_of_attempts_that_were_given_up_are_deleted(archive: Cleaned) -> None:
    merged(archive, age_ms=0)
    dead = archive.put(f"{NOON}/batch-000000000004-1f0c9a2e-00000001-00000.zstd.parquet", age_ms=GRACE_MS)

    assert archive.clean() == ([], [dead])


@pytest.mark.parametrize(
    ("name", "age_ms"),
    [
        ("batch-000000000004-1f0c9a2e-00000001-00000.zstd.parquet", GRACE_MS - 1),
        ("batch-000000000005-1f0c9a2e-00000001-00000.zstd.parquet", ATTEMPT_MS_MAX - 1),
        ("batch-000000000000-ffffffff-00000001-00000.zstd.parquet", ATTEMPT_MS_MAX - 1),
        ("merged-1769850000000-90ab12cd-00000.zstd.parquet", ATTEMPT_MS_MAX - 1),
    ],
    ids=["young", "perhaps-running", "of-another-query", "of-another-compaction"],
)
def test_files_of_attempts_that_may_be_running_stay(archive: Cleaned, name: str, age_ms: int) -> None:
    merged(archive, age_ms=0)
    archive.put(f"{NOON}/{name}", age_ms=age_ms)

    assert archive.clean() == ([], [])


def test_staging_of_old_attempts_is_deleted(archive: Cleaned) -> None:
    old, young = (f"{NOW_MS - age_ms}-0123abcd" for age_ms in (ATTEMPT_MS_MAX, ATTEMPT_MS_MAX - 1))
    archive.put(f"_staging/{old}/_temporary/0/part", age_ms=0)
    archive.put(f"_staging/{young}/_temporary/0/part", age_ms=0)

    assert archive.clean() == ([], [f"_staging/{old}"])
    assert archive.store.directories("_staging") == [young]


def test_files_that_are_none_of_ours_stay(archive: Cleaned) -> None:
    archive.put("README.md", age_ms=50 * DAY_MS)
    archive.put("topic=orders/notes.txt", age_ms=50 * DAY_MS)

    assert archive.clean() == ([], [])
    assert archive.there() == {"README.md", "topic=orders/notes.txt"}
