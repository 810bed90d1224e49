import contextlib

import pytest
from tests.storage.log_testing import make_batch, make_disk

from penstock.records.batch import stamp
from penstock.storage.leftovers import tidy_directory
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.segment import file_name

DIRECTORY = "/data/t-0"


def disk_with(*names: str) -> MemoryFileSystem:
    disk = make_disk()
    disk.make_directory(DIRECTORY)
    for name in names:
        disk.open(f"{DIRECTORY}/{name}", create=True).write(0, [b"old"])
    disk.sync_directory("/data")
    disk.sync_directory(DIRECTORY)
    return disk


def segment_files(base_offset: int) -> list[str]:
    return [file_name(base_offset, suffix) for suffix in (".index", ".log", ".timeindex")]


def write_swap(disk: MemoryFileSystem, base_offset: int, *offsets: int) -> bytes:
    """A compacted segment with one batch per offset, its files waiting to take their place."""
    content = b""
    for offset in offsets:
        batch = make_batch(b"kept")
        stamp(batch, offset, 0)
        content += batch
    for suffix, data in ((".log", content), (".index", b"new"), (".timeindex", b"new")):
        file = disk.open(f"{DIRECTORY}/{file_name(base_offset, suffix)}.swap", create=True)
        file.write(0, [data])
        file.flush()
    disk.sync_directory(DIRECTORY)
    return content


def test_listing_names_segments_and_snapshots() -> None:
    disk = disk_with(
        *segment_files(0), *segment_files(50), file_name(50, ".snapshot"), "leader-epoch-checkpoint", "x.log"
    )
    listing = tidy_directory(disk, DIRECTORY)
    assert listing.base_offsets == [0, 50]
    assert listing.snapshot_offsets == [50]


def test_temporary_cleaned_and_deleted_files_go() -> None:
    kept = segment_files(0)
    disk = disk_with(
        *kept, "leader-epoch-checkpoint.tmp", file_name(0, ".log.cleaned"), file_name(5, ".log.deleted")
    )
    tidy_directory(disk, DIRECTORY)
    assert disk.list_directory(DIRECTORY) == kept
    disk.power_loss()
    assert disk.list_directory(DIRECTORY) == kept


def test_index_without_log_goes() -> None:
    disk = disk_with(*segment_files(0), file_name(9, ".index"), file_name(9, ".txnindex"))
    tidy_directory(disk, DIRECTORY)
    assert disk.list_directory(DIRECTORY) == segment_files(0)


def test_tidy_directory_is_left_alone() -> None:
    disk = disk_with(*segment_files(0))
    before = disk.operation_count
    tidy_directory(disk, DIRECTORY)
    assert disk.operation_count == before


def test_swap_takes_the_place_of_the_segments_it_was_made_from() -> None:
    disk = disk_with(*segment_files(0), *segment_files(10), *segment_files(20))
    content = write_swap(disk, 0, 0, 15)
    assert tidy_directory(disk, DIRECTORY).base_offsets == [0, 20]
    assert disk.list_directory(DIRECTORY) == [*segment_files(0), *segment_files(20)]
    assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.log')}") == content
    assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.index')}") == b"new"


def test_indexes_of_a_swap_that_was_never_decided_go() -> None:
    disk = disk_with(*segment_files(0), file_name(0, ".index.swap"), file_name(0, ".txnindex.swap"))
    assert tidy_directory(disk, DIRECTORY).base_offsets == [0]
    assert disk.list_directory(DIRECTORY) == segment_files(0)
    assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.index')}") == b"old"


def test_swap_is_completed_when_the_old_files_are_away_already() -> None:
    disk = disk_with(*segment_files(20), file_name(0, ".log.deleted"), file_name(10, ".log.deleted"))
    content = write_swap(disk, 0, 0, 15)
    assert tidy_directory(disk, DIRECTORY).base_offsets == [0, 20]
    assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.log')}") == content
    assert disk.list_directory(DIRECTORY) == [*segment_files(0), *segment_files(20)]


def test_two_swaps_are_both_completed() -> None:
    disk = disk_with(*segment_files(0), *segment_files(10), *segment_files(20), *segment_files(30))
    first, second = write_swap(disk, 0, 0, 19), write_swap(disk, 20, 25, 39)
    assert tidy_directory(disk, DIRECTORY).base_offsets == [0, 20]
    assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.log')}") == first
    assert disk.read_file(f"{DIRECTORY}/{file_name(20, '.log')}") == second


@pytest.mark.parametrize("seed", range(10))
def test_interrupted_swap_ends_the_same_wherever_it_is_interrupted(seed: int) -> None:
    for stop in range(14):
        disk = disk_with(*segment_files(0), *segment_files(10), *segment_files(20))
        content = write_swap(disk, 0, 0, 15)
        disk.machine.rng.seed(seed)
        disk.stop_before(disk.operation_count + stop)
        with contextlib.suppress(MachineStopped):
            tidy_directory(disk, DIRECTORY)
        disk.power_loss()
        assert tidy_directory(disk, DIRECTORY).base_offsets == [0, 20]
        assert disk.read_file(f"{DIRECTORY}/{file_name(0, '.log')}") == content
