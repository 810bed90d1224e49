"""What commits come to, and that they survive being written down."""

import pytest
from tests.spark.archive.some_files import a_batch, a_file, a_merge

from penstock.model.ids import TopicPartition
from penstock.spark.archive.commits import Commit, CommitKind, decode_commit, encode_commit
from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.incarnations import Log
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.state import ArchiveState, apply, decode_state, encode_state

FIRST = a_file("first", first=0, last=9)
SECOND = a_file("second", first=10, last=19)
BOTH = a_file("both", first=0, last=19)
MERGE = a_merge(BOTH, of=(FIRST, SECOND), at_ms=77)


def state_after(*commits: Commit) -> ArchiveState:
    state = ArchiveState()
    for commit in commits:
        state = apply(state, commit)
    return state


def test_batches_add_their_files_and_offsets() -> None:
    state = state_after(a_batch(0, FIRST), a_batch(1, SECOND))

    assert state.version == 1
    assert state.files == {FIRST.path: FIRST, SECOND.path: SECOND}
    assert state.covered == {Log("orders", 0, 0): (Interval(0, 20),)}
    assert state.batches == {"query": 1}
    assert state.next_offsets("orders") == {TopicPartition("orders", 0): 20}


def test_compaction_replaces_files_and_keeps_offsets() -> None:
    state = state_after(a_batch(0, FIRST), a_batch(1, SECOND), MERGE)

    assert state.files == {BOTH.path: BOTH}
    assert state.removed == {FIRST.path: 77, SECOND.path: 77}
    assert state.covered == {Log("orders", 0, 0): (Interval(0, 20),)}


def test_cleaning_forgets_removed_files() -> None:
    cleaning = Commit(kind=CommitKind.CLEANING, at_ms=0, forgotten=(FIRST.path,))
    state = state_after(a_batch(0, FIRST), a_batch(1, SECOND), MERGE, cleaning)

    assert state.removed == {SECOND.path: 77}


@pytest.mark.parametrize(
    ("commits", "message"),
    [
        ([a_batch(0, FIRST), a_batch(1, FIRST)], "adds topic=orders.*first, which is there already"),
        ([a_batch(0, FIRST), MERGE], "removes topic=orders.*second, which is not there"),
    ],
    ids=["twice", "gone"],
)
def test_impossible_commits_are_damage(commits: list[Commit], message: str) -> None:
    with pytest.raises(DamagedArchiveError, match=message):
        state_after(*commits)


def test_next_offsets_are_those_of_the_latest_incarnation() -> None:
    again = Commit(
        kind=CommitKind.BATCH,
        at_ms=0,
        topics={"orders": ("id", "another")},
        covered={Log("orders", 1, 0): Interval(0, 3), Log("orders", 1, 1): Interval(5, 7)},
    )
    state = state_after(a_batch(0, FIRST), again)

    assert state.next_offsets("orders") == {TopicPartition("orders", 0): 3, TopicPartition("orders", 1): 7}
    assert state.next_offsets("payments") == {}


@pytest.mark.parametrize(
    "commit",
    [a_batch(3, FIRST, SECOND), MERGE, Commit(kind=CommitKind.CLEANING, at_ms=5, forgotten=("a", "b"))],
    ids=["batch", "compaction", "cleaning"],
)
def test_commit_survives_being_written(commit: Commit) -> None:
    assert decode_commit(encode_commit(commit), path="x") == commit


def test_state_survives_being_written() -> None:
    state = state_after(a_batch(0, FIRST), a_batch(1, SECOND), MERGE)

    assert decode_state(encode_state(state), path="x") == state


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format": 1, "kind"', "x is no JSON"),
        (b"[]", "does not say its format"),
        (b'{"format": 99}', "has format 99, and this version of Penstock knows 1: use a newer one"),
    ],
    ids=["cut-off", "something-else", "newer"],
)
def test_what_is_no_commit_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(DamagedArchiveError, match=message):
        decode_commit(data, path="x")
