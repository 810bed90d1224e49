from struct import Struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import make_disk

from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.sparse_index import KEY, VALUE, DamagedIndexError, SparseIndex

PATH = "/data/index"
ENTRY = Struct(">qi")

ascending = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=1500).map(
    lambda steps: [(sum(k for k, _ in steps[: n + 1]), n * 2) for n in range(len(steps))]
)


def make(disk: MemoryFileSystem, entries: list[tuple[int, int]], *, written: int) -> SparseIndex:
    """An index with its first ``written`` entries on the file and the rest in memory."""
    index = SparseIndex(disk, PATH, ENTRY, is_new=True)
    for entry in entries[:written]:
        index.append(*entry)
    write(disk, index)
    for entry in entries[written:]:
        index.append(*entry)
    return index


def write(disk: MemoryFileSystem, index: SparseIndex) -> None:
    captured = index.capture(is_final=True)
    if captured is not None:
        captured.run(disk)
        index.settle(captured)


def linear_floor(entries: list[tuple[int, int]], wanted: int, column: int) -> tuple[int, int] | None:
    return next((entry for entry in reversed(entries) if entry[column] <= wanted), None)


@settings(deadline=None)
@given(ascending, st.floats(0, 1), st.lists(st.integers(-1, 40_000), max_size=10), st.booleans())
def test_floor_on_file_and_in_memory_equals_a_linear_search(
    entries: list[tuple[int, int]], part: float, wanted: list[int], reopens: bool
) -> None:
    disk = make_disk()
    index = make(disk, entries, written=int(part * len(entries)))
    if reopens:
        write(disk, index)
        index = SparseIndex(disk, PATH, ENTRY, is_new=False)
    assert len(index) == len(entries)
    assert index.last() == (entries[-1] if entries else None)
    for number in wanted:
        for column in (KEY, VALUE):
            assert index.floor(number, column=column) == linear_floor(entries, number, column)


@settings(deadline=None)
@given(ascending, st.floats(0, 1), st.integers(0, 3_000))
def test_drop_values_from_forgets_them_in_memory_and_on_the_file(
    entries: list[tuple[int, int]], part: float, limit: int
) -> None:
    disk = make_disk()
    index = make(disk, entries, written=int(part * len(entries)))
    index.drop_values_from(limit)
    kept = [entry for entry in entries if entry[1] < limit]
    assert len(index) == len(kept)
    index.append(10**6, limit)
    write(disk, index)
    expected = b"".join(ENTRY.pack(*entry) for entry in [*kept, (10**6, limit)])
    assert disk.read_file(PATH) == expected


def test_capture_without_changes_is_nothing() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1)], written=1)
    assert index.capture(is_final=True) is None


def test_new_index_without_entries_writes_an_empty_file() -> None:
    disk = make_disk()
    make(disk, [], written=0)
    assert disk.size(PATH) == 0


def test_entries_added_while_a_write_runs_stay_for_the_next() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1), (2, 2)], written=0)
    captured = index.capture(is_final=True)
    assert captured is not None
    index.append(3, 3)
    captured.run(disk)
    index.settle(captured)
    assert index.floor(2) == (2, 2)
    write(disk, index)
    assert disk.read_file(PATH) == b"".join(ENTRY.pack(n, n) for n in (1, 2, 3))


def test_clear_empties_the_file_with_the_next_write() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1), (2, 2)], written=2)
    index.clear()
    assert index.floor(5) is None
    write(disk, index)
    assert disk.size(PATH) == 0


def test_missing_file_is_damage() -> None:
    index = SparseIndex(make_disk(), PATH, ENTRY, is_new=False)
    with pytest.raises(DamagedIndexError, match="missing"):
        index.floor(1)


def test_file_that_is_no_multiple_of_an_entry_is_damage() -> None:
    disk = make_disk()
    disk.open(PATH, create=True).write(0, [bytes(13)])
    with pytest.raises(DamagedIndexError, match="13 bytes, no multiple of 12"):
        SparseIndex(disk, PATH, ENTRY, is_new=False).last()


def test_file_cut_behind_the_index_s_back_is_damage() -> None:
    disk = make_disk()
    index = make(disk, [(n, n) for n in range(100)], written=100)
    disk.open(PATH).truncate(120)
    with pytest.raises(DamagedIndexError, match="ends before entry"):
        index.floor(5)
    with pytest.raises(DamagedIndexError, match="ends before entry"):
        index.last()


def test_file_removed_behind_the_index_s_back_is_damage() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1)], written=1)
    disk.unlink(PATH)
    with pytest.raises(DamagedIndexError, match="missing"):
        index.floor(5)


@settings(deadline=None)
@given(st.binary(max_size=3000), st.integers(-(2**62), 2**62))
def test_search_through_garbage_ends(garbage: bytes, wanted: int) -> None:
    disk = make_disk()
    disk.open(PATH, create=True).write(0, [garbage[: len(garbage) // 12 * 12]])
    index = SparseIndex(disk, PATH, ENTRY, is_new=False)
    found = index.floor(wanted)
    assert found is None or found[0] <= wanted


def test_write_that_was_under_way_during_a_cut_does_not_bring_back_what_was_cut() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1), (2, 2), (3, 3)], written=1)
    stale = index.capture(is_final=False)
    assert stale is not None
    index.drop_values_from(2)
    stale.run(disk)
    index.settle(stale)
    assert index.last() == (1, 1)
    assert index.capture(is_final=False) is None
    index.append(9, 9)
    write(disk, index)
    assert disk.read_file(PATH) == ENTRY.pack(1, 1) + ENTRY.pack(9, 9)


def test_write_that_ends_after_a_later_one_does_not_undo_it() -> None:
    disk = make_disk()
    index = make(disk, [(1, 1)], written=0)
    early = index.capture(is_final=False)
    index.append(2, 2)
    late = index.capture(is_final=True)
    assert early is not None
    assert late is not None
    late.run(disk)
    early.run(disk)
    index.settle(late)
    index.settle(early)
    assert disk.read_file(PATH) == ENTRY.pack(1, 1) + ENTRY.pack(2, 2)
    assert index.floor(5) == (2, 2)
