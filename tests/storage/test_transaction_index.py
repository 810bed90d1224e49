import pytest
from tests.storage.log_testing import make_disk

from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.transaction_index import ENTRY, AbortedTransaction, TransactionIndex

PATH = "/data/x.txnindex"
FIRST = AbortedTransaction(7, 10, 20, 15)
SECOND = AbortedTransaction(8, 15, 30, 31)


def write(disk: MemoryFileSystem, index: TransactionIndex) -> None:
    captured = index.capture(is_final=True)
    assert captured is not None
    captured.run(disk)
    index.settle(captured)


def test_file_has_kafka_s_entries() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, is_new=True)
    index.add(FIRST)
    write(disk, index)
    expected = "00000000000000000007000000000000000a0000000000000014000000000000000f"
    assert disk.read_file(PATH).hex() == expected


def test_entries_come_back_from_the_file() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, is_new=True)
    index.add(FIRST)
    index.add(SECOND)
    write(disk, index)
    assert index.capture(is_final=True) is None
    assert TransactionIndex(disk, PATH, is_new=False).entries() == [FIRST, SECOND]


def test_no_file_means_no_entries_and_none_is_made() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, is_new=False)
    assert index.entries() == []
    assert not index.is_damaged
    assert index.capture(is_final=True) is None


def test_truncate_forgets_markers_from_the_offset_on() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, is_new=True)
    index.add(FIRST)
    index.add(SECOND)
    write(disk, index)
    index.truncate(30)
    assert index.entries() == [FIRST]
    write(disk, index)
    assert disk.size(PATH) == 34


def test_entry_added_while_a_write_runs_is_written_next_time() -> None:
    disk = make_disk()
    index = TransactionIndex(disk, PATH, is_new=True)
    index.add(FIRST)
    captured = index.capture(is_final=True)
    assert captured is not None
    index.add(SECOND)
    captured.run(disk)
    index.settle(captured)
    write(disk, index)
    assert disk.size(PATH) == 68


@pytest.mark.parametrize(
    "garbage",
    [
        b"x",
        bytes(33),
        b"\x00\x01" + bytes(32),
        b"\x00\x00" + b"\xff" * 32,
        ENTRY.pack(0, *SECOND) + ENTRY.pack(0, *FIRST),
        ENTRY.pack(0, 7, 20, 10, 0),
    ],
)
def test_garbage_is_recognised_and_not_written_back_until_replaced(garbage: bytes) -> None:
    disk = make_disk()
    disk.open(PATH, create=True).write(0, [garbage])
    index = TransactionIndex(disk, PATH, is_new=False)
    index.entries()
    assert index.is_damaged
    index.add(SECOND)
    assert index.capture(is_final=True) is None
    index.replace([FIRST, SECOND])
    write(disk, index)
    assert TransactionIndex(disk, PATH, is_new=False).entries() == [FIRST, SECOND]


def test_overlap_is_with_the_marker_and_without_the_end() -> None:
    assert FIRST.overlaps(20, 25)
    assert not FIRST.overlaps(21, 25)
    assert FIRST.overlaps(0, 11)
    assert not FIRST.overlaps(0, 10)
