"""What a replay remembers."""

from pathlib import Path

import pytest
from tests.spark.archive.replay.test_plan import a_plan

from penstock.model.errors import UsageError
from penstock.spark.archive.replay.progress import ReplayProgress
from penstock.spark.archive.stores.local_store import LocalStore


def test_progress_is_remembered_chunk_by_chunk(tmp_path: Path) -> None:
    progress = ReplayProgress(LocalStore(tmp_path / "replay"))
    assert progress.plan() is None
    assert progress.done() == (0, 0)

    progress.begin(a_plan())
    assert progress.finish(0, records=10) == (1, 10)
    assert progress.finish(1, records=7) == (2, 17)

    again = ReplayProgress(LocalStore(tmp_path / "replay"))
    assert again.plan() == a_plan()
    assert again.done() == (2, 17)
    assert len(list((tmp_path / "replay").iterdir())) == 2


def test_chunk_that_was_noted_twice_counts_once(tmp_path: Path) -> None:
    """A crash after the note of a chunk, before that of the one before was deleted."""
    progress = ReplayProgress(LocalStore(tmp_path))
    progress.finish(0, records=10)
    first = (tmp_path / "done-000000000.json").read_bytes()
    progress.finish(1, records=7)
    (tmp_path / "done-000000000.json").write_bytes(first)

    assert progress.done() == (2, 17)
    assert progress.finish(2, records=1) == (3, 18)


def test_replay_is_begun_by_one(tmp_path: Path) -> None:
    ReplayProgress(LocalStore(tmp_path)).begin(a_plan())

    with pytest.raises(UsageError, match="Somebody else has just begun"):
        ReplayProgress(LocalStore(tmp_path)).begin(a_plan())
