"""What a micro-batch adds: every offset once, whatever comes again."""

import pytest
from tests.spark.archive.some_files import a_file

from penstock.model.ids import TopicPartition
from penstock.spark.archive.batch_commit import AlreadyArchivedError, Batch, Fence, batch_commit
from penstock.spark.archive.batch_offsets import BatchOffsets
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.incarnations import Log
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.state import ArchiveState, apply

ZERO = TopicPartition("orders", 0)


def a_batch(
    batch_id: int, start: int | None, end: int, *, topic_id: str = "id", query_id: str = "query"
) -> Batch:
    starts = {} if start is None else {ZERO: start}
    offsets = BatchOffsets(starts=starts, ends={ZERO: end}, topic_ids={"orders": topic_id})
    return Batch(query_id=query_id, batch_id=batch_id, offsets=offsets)


def add(state: ArchiveState, batch: Batch, *files: ArchivedFile, fence: Fence | None = None) -> ArchiveState:
    commit = batch_commit(state, batch, files, fence=fence or {}, now_ms=0)
    return state if commit.is_empty else apply(state, commit)


def covered(state: ArchiveState) -> dict[Log, list[tuple[int, int]]]:
    return {log: [(one.start, one.end) for one in intervals] for log, intervals in state.covered.items()}


FIRST = add(ArchiveState(), a_batch(0, None, 10), a_file("0", first=0, last=9))


def test_batches_cover_what_they_have_been_through() -> None:
    """Behind the last record and before the first may be markers of transactions."""
    state = add(FIRST, a_batch(1, 10, 22), a_file("1", first=12, last=19))

    assert covered(state) == {Log("orders", 0, 0): [(0, 22)]}
    assert state.batches == {"query": 1}
    assert state.topics == {"orders": ("id",)}


def test_first_batch_covers_from_its_first_record() -> None:
    state = add(ArchiveState(), a_batch(0, None, 10), a_file("0", first=4, last=9))

    assert covered(state) == {Log("orders", 0, 0): [(4, 10)]}


def test_batch_without_records_moves_on() -> None:
    state = add(FIRST, a_batch(1, 10, 13))

    assert covered(state) == {Log("orders", 0, 0): [(0, 13)]}


def test_offsets_without_records_at_the_beginning_are_covered() -> None:
    """Compacted, aborted or lost: offsets do not tell, and a batch that comes again must find all of it."""
    batch = a_batch(1, 10, 60)
    state = add(FIRST, batch, a_file("1", first=50, last=59))

    assert covered(state) == {Log("orders", 0, 0): [(0, 60)]}
    assert batch.is_archived(state)


def test_batch_without_anything_is_no_commit() -> None:
    empty = batch_commit(ArchiveState(), a_batch(0, None, 0), (), fence={}, now_ms=0)

    assert empty.is_empty


def test_repeated_batch_is_archived_already() -> None:
    state = add(FIRST, a_batch(1, 10, 20), a_file("1", first=10, last=19))

    assert a_batch(1, 10, 20).is_archived(state)
    assert not a_batch(2, 20, 30).is_archived(state)
    assert not a_batch(1, 10, 25).is_archived(state)


def test_repeated_first_batch_is_fenced_completely() -> None:
    fence = a_batch(0, None, 10).fence(FIRST)

    assert fence == {ZERO: (Interval(0, 10),)}
    assert add(FIRST, a_batch(0, None, 10), fence=fence) is FIRST


def test_batch_with_other_bounds_adds_only_the_rest() -> None:
    """After the checkpoint was lost, or restored from a copy."""
    batch = a_batch(0, 5, 30, query_id="another")
    fence = batch.fence(FIRST)

    state = add(FIRST, batch, a_file("1", first=10, last=29), fence=fence)

    assert fence == {ZERO: (Interval(5, 10),)}
    assert covered(state) == {Log("orders", 0, 0): [(0, 30)]}


def test_records_that_others_archived_meanwhile_are_refused() -> None:
    mine = a_batch(0, None, 30, query_id="another")
    fence = mine.fence(ArchiveState())

    with pytest.raises(AlreadyArchivedError) as refused:
        add(FIRST, mine, a_file("1", first=0, last=29), fence=fence)

    assert refused.value.fence == {ZERO: (Interval(0, 10),)}
    state = add(FIRST, mine, a_file("1", first=10, last=29), fence=refused.value.fence)
    assert covered(state) == {Log("orders", 0, 0): [(0, 30)]}


def test_fence_in_the_middle_of_a_file_is_enough() -> None:
    """A file that was filtered may have records on both sides of what is archived."""
    middle = add(ArchiveState(), a_batch(0, 10, 20), a_file("0", first=10, last=19))
    outer = a_batch(0, 0, 30, query_id="another")

    state = add(middle, outer, a_file("1", first=0, last=29), fence=outer.fence(middle))

    assert covered(state) == {Log("orders", 0, 0): [(0, 30)]}


def test_older_records_than_those_archived_are_new() -> None:
    """One query began at the end, another at the beginning."""
    late = add(ArchiveState(), a_batch(0, 100, 200), a_file("0", first=100, last=199))

    state = add(late, a_batch(0, 0, 50, query_id="another"), a_file("1", first=0, last=49))

    assert covered(state) == {Log("orders", 0, 0): [(0, 50), (100, 200)]}


def test_topic_that_was_made_anew_begins_again() -> None:
    batch = a_batch(1, None, 5, topic_id="another")

    assert not batch.is_archived(FIRST)
    assert batch.fence(FIRST) == {}
    state = add(FIRST, batch, a_file("1", first=0, last=4))

    assert covered(state) == {Log("orders", 0, 0): [(0, 10)], Log("orders", 1, 0): [(0, 5)]}
    assert state.topics == {"orders": ("id", "another")}
    assert [file.incarnation for file in state.files.values()] == [0, 1]


def test_source_that_tells_no_offsets_is_covered_by_its_records() -> None:
    batch = Batch(query_id="query", batch_id=0, offsets=BatchOffsets())

    state = add(
        ArchiveState(), batch, a_file("0", first=3, last=9), a_file("1", first=5, last=8, partition=1)
    )

    assert covered(state) == {Log("orders", 0, 0): [(3, 10)], Log("orders", 0, 1): [(5, 9)]}
    assert not batch.is_archived(state)
