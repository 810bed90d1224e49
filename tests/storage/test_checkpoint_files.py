from random import Random

import pytest

from penstock.model.errors import DiskFullError
from penstock.model.ids import Offset, TopicPartition
from penstock.storage.atomic_file import write_atomically
from penstock.storage.checkpoint_files import CheckpointFiles, OffsetTables
from penstock.storage.disk_room import DiskRoom
from penstock.storage.memory_filesystem import MemoryFileSystem

A, B = TopicPartition("a", 0), TopicPartition("b", 1)
TABLES = OffsetTables(
    recovery_points={A: Offset(10), B: Offset(20)},
    log_starts={B: Offset(5)},
    high_watermarks={A: Offset(9), B: Offset(19)},
)


def disk(seed: int = 1) -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(seed))
    fs.make_directory("/data")
    fs.sync_directory("/")
    return fs


def open_files(fs: MemoryFileSystem) -> CheckpointFiles:
    return CheckpointFiles(fs, "/data", DiskRoom(fs, "/data"))


def write(files: CheckpointFiles, tables: OffsetTables) -> None:
    files.write(tables, moment=files.next_moment())


def test_new_directory_has_empty_tables() -> None:
    assert open_files(disk()).written == OffsetTables()


def test_written_tables_survive_power_loss() -> None:
    for seed in range(20):
        fs = disk(seed)
        write(open_files(fs), TABLES)
        fs.power_loss()
        assert open_files(fs).written == TABLES


def test_damaged_table_reads_as_empty_and_others_stand() -> None:
    fs = disk()
    write(open_files(fs), TABLES)
    write_atomically(fs, "/data/recovery-point-offset-checkpoint", b"0\n2\na 0 10\n")
    again = open_files(fs).written
    assert again.recovery_points == {}
    assert again.log_starts == TABLES.log_starts


def test_unchanged_tables_are_not_written_again() -> None:
    fs = disk()
    files = open_files(fs)
    write(files, TABLES)
    before = fs.operation_count
    write(files, TABLES)
    assert fs.operation_count == before
    write(
        files,
        OffsetTables(
            recovery_points=TABLES.recovery_points, log_starts={}, high_watermarks=TABLES.high_watermarks
        ),
    )
    paths = {operation.path for operation in list(fs.operations)[before:]}
    assert paths == {"/data", "/data/log-start-offset-checkpoint.tmp"}


def test_forgotten_name_is_gone_durably_and_others_stay() -> None:
    fs = disk()
    files = open_files(fs)
    write(files, TABLES)
    files.forget([A])
    fs.power_loss()
    assert open_files(fs).written == TABLES.without([A])


def test_forgetting_what_nobody_mentioned_costs_nothing() -> None:
    fs = disk()
    files = open_files(fs)
    before = fs.operation_count
    files.forget([A, B])
    assert fs.operation_count == before


def test_tables_captured_before_forgetting_do_not_bring_the_name_back() -> None:
    files = open_files(disk())
    captured = files.next_moment()
    files.forget([A])
    files.write(TABLES, moment=captured)
    assert files.written == TABLES.without([A])
    write(files, TABLES)
    assert files.written == TABLES


def test_older_capture_never_replaces_a_newer_one() -> None:
    files = open_files(disk())
    first, second = files.next_moment(), files.next_moment()
    files.write(TABLES, moment=second)
    files.write(OffsetTables(), moment=first)
    assert files.written == TABLES


def test_full_disk_uses_the_reserve_once() -> None:
    fs = disk()
    fs.capacity_bytes = 100 * 1024 * 1024
    room = DiskRoom(fs, "/data")
    room.look()
    files = CheckpointFiles(fs, "/data", room)
    fs.capacity_bytes = fs.used_bytes
    write(files, TABLES)
    assert files.written == TABLES
    assert not fs.exists("/data/reserve")
    fs.capacity_bytes = fs.used_bytes
    with pytest.raises(DiskFullError):
        write(files, OffsetTables(recovery_points={A: Offset(11)}))
    assert files.written == TABLES
