from random import Random

import pytest

from penstock.model.errors import DirectoryInUseError, DiskFullError, FlushFailedError, StorageError
from penstock.storage.filesystem import PathMissingError
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped


def disk(seed: int = 1, capacity_bytes: int = 1 << 30) -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(seed), capacity_bytes=capacity_bytes)
    fs.make_directory("/data")
    fs.sync_directory("/")
    return fs


def durable_file(fs: MemoryFileSystem, content: bytes) -> None:
    file = fs.open("/data/file", create=True)
    file.write(0, [content])
    file.flush()
    fs.sync_directory("/data")
    file.close()


def test_crash_keeps_the_page_cache_and_kills_what_was_open() -> None:
    fs = disk()
    file = fs.open("/data/file", create=True)
    file.write(0, [b"never flushed"])
    lock = fs.lock("/data/LOCK")
    fs.crash()
    assert fs.read_file("/data/file") == b"never flushed"
    with pytest.raises(StorageError, match="dead"):
        file.write(0, [b"from the grave"])
    with pytest.raises(StorageError, match="dead"):
        file.flush()
    file.close()
    fs.lock("/data/LOCK")
    lock.release()
    with pytest.raises(DirectoryInUseError):
        fs.lock("/data/LOCK")


def test_power_loss_keeps_what_was_flushed_under_a_synced_name() -> None:
    for seed in range(50):
        fs = disk(seed)
        durable_file(fs, b"promise")
        fs.power_loss()
        assert fs.read_file("/data/file") == b"promise"


def test_power_loss_may_lose_a_flushed_file_whose_name_was_not_synced() -> None:
    def is_lost(seed: int) -> bool:
        fs = disk(seed)
        file = fs.open("/data/file", create=True)
        file.write(0, [b"x"])
        file.flush()
        fs.power_loss()
        return not fs.exists("/data/file")

    assert {is_lost(seed) for seed in range(50)} == {True, False}


def test_power_loss_may_bring_back_the_old_content_of_an_unsynced_rename() -> None:
    def content(seed: int) -> bytes:
        fs = disk(seed)
        durable_file(fs, b"old")
        new = fs.open("/data/file.tmp", create=True)
        new.write(0, [b"new"])
        new.flush()
        fs.rename("/data/file.tmp", "/data/file")
        fs.power_loss()
        return fs.read_file("/data/file")

    assert {content(seed) for seed in range(50)} == {b"old", b"new"}


def test_power_loss_may_bring_back_a_removed_file_and_its_room_is_counted() -> None:
    def size_of_returned(seed: int) -> int:
        fs = disk(seed)
        durable_file(fs, b"12345")
        fs.unlink("/data/file")
        assert fs.used_bytes == 0
        fs.power_loss()
        assert fs.used_bytes == (5 if fs.exists("/data/file") else 0)
        if fs.exists("/data/file"):
            fs.unlink("/data/file")
            assert fs.used_bytes == 0
            return 5
        return 0

    assert {size_of_returned(seed) for seed in range(50)} == {0, 5}


def test_power_loss_loses_all_below_a_directory_whose_name_was_not_synced() -> None:
    def is_lost(seed: int) -> bool:
        fs = disk(seed)
        fs.make_directory("/data/topic-0")
        fs.open("/data/topic-0/file", create=True).flush()
        fs.sync_directory("/data/topic-0")
        fs.power_loss()
        return not fs.exists("/data/topic-0")

    assert {is_lost(seed) for seed in range(50)} == {True, False}


def test_same_seed_gives_the_same_outcome_and_another_seed_another() -> None:
    def outcome(seed: int) -> tuple[list[str], list[bytes]]:
        fs = disk(seed)
        for number in range(20):
            file = fs.open(f"/data/{number}", create=True)
            file.write(0, [b"x" * 1000])
            if number % 3 == 0:
                file.flush()
            if number == 10:
                fs.sync_directory("/data")
        fs.power_loss()
        names = fs.list_directory("/data")
        return names, [fs.read_file(f"/data/{name}") for name in names]

    assert outcome(7) == outcome(7)
    assert len({str(outcome(seed)) for seed in range(10)}) > 1


def test_failed_flush_is_final_for_the_file_and_forgotten_by_the_disk() -> None:
    fs = disk()
    durable_file(fs, b"")
    fs.fail_flush("file")
    file = fs.open("/data/file")
    file.write(0, [b"x" * 5000])
    with pytest.raises(FlushFailedError):
        file.flush()
    with pytest.raises(FlushFailedError):
        file.flush()
    assert fs.read_file("/data/file") == b"x" * 5000
    fs.crash()
    fs.open("/data/file").flush()


def test_failed_flush_then_trusting_the_page_cache_loses_data() -> None:
    def is_lost(seed: int) -> bool:
        fs = disk(seed)
        durable_file(fs, b"")
        fs.fail_flush()
        file = fs.open("/data/file")
        file.write(0, [b"x"])
        with pytest.raises(FlushFailedError):
            file.flush()
        fs.crash()
        fs.open("/data/file").flush()
        fs.power_loss()
        return fs.read_file("/data/file") == b""

    assert {is_lost(seed) for seed in range(50)} == {True, False}


def test_failed_directory_sync_is_final_until_the_process_ends() -> None:
    fs = disk()
    fs.fail_flush("/data")
    with pytest.raises(FlushFailedError):
        fs.sync_directory("/data")
    with pytest.raises(FlushFailedError):
        fs.sync_directory("/data")
    fs.crash()
    fs.sync_directory("/data")


def test_full_disk_takes_the_first_part_of_a_write() -> None:
    fs = disk(capacity_bytes=10)
    file = fs.open("/data/file", create=True)
    file.write(0, [b"12345678"])
    with pytest.raises(DiskFullError):
        file.write(6, [b"abcdef"])
    assert file.read(0, 100) == b"123456abcd"
    file.write(0, [b"0123456789"])
    with pytest.raises(DiskFullError):
        file.write(10, [b"x"])
    assert fs.usage("/data").free_bytes == 0
    file.truncate(4)
    assert fs.usage("/data").free_bytes == 6


def test_full_disk_refuses_to_preallocate() -> None:
    fs = disk(capacity_bytes=10)
    file = fs.open("/data/file", create=True)
    file.preallocate(8)
    with pytest.raises(DiskFullError):
        file.preallocate(11)
    assert file.size() == 8


def test_removed_file_frees_its_room_when_the_last_user_closes() -> None:
    fs = disk(capacity_bytes=10)
    file = fs.open("/data/file", create=True)
    file.write(0, [b"12345"])
    fs.unlink("/data/file")
    assert fs.free_bytes == 5
    file.close()
    assert fs.free_bytes == 10


def test_replaced_file_frees_its_room() -> None:
    fs = disk(capacity_bytes=10)
    for name, content in (("old", b"123"), ("new", b"1234")):
        file = fs.open(f"/data/{name}", create=True)
        file.write(0, [content])
        file.close()
    fs.rename("/data/new", "/data/old")
    assert fs.used_bytes == 4


def test_flip_bit_changes_one_bit_for_ever() -> None:
    fs = disk()
    durable_file(fs, bytes(100))
    position = fs.flip_bit("/data/file")
    fs.power_loss()
    content = fs.read_file("/data/file")
    assert content[position].bit_count() == 1
    assert sum(content) == content[position]


def test_flip_bit_under_unflushed_bytes_shows_only_after_power_loss() -> None:
    fs = disk()
    durable_file(fs, b"aa")
    file = fs.open("/data/file")
    file.write(0, [b"b"])
    assert fs.flip_bit("/data/file", 0) == 0
    assert file.read(0, 2) == b"ba"
    file.truncate(1)
    fs.flip_bit("/data/file", 1)
    assert file.read(0, 2) == b"b"


def test_stop_before_a_write_leaves_a_part_of_it_in_the_page_cache() -> None:
    lengths = set()
    for seed in range(50):
        fs = disk(seed)
        durable_file(fs, b"")
        file = fs.open("/data/file")
        fs.stop_before(fs.operation_count)
        with pytest.raises(MachineStopped):
            file.write(0, [b"abcd"])
        with pytest.raises(MachineStopped):
            fs.exists("/data/file")
        with pytest.raises(MachineStopped):
            fs.open("/data/file")
        fs.crash()
        lengths.add(len(fs.read_file("/data/file")))
        assert b"abcd".startswith(fs.read_file("/data/file"))
    assert lengths == {0, 1, 2, 3, 4}


def test_operations_list_every_change_but_no_read() -> None:
    fs = MemoryFileSystem(Random(1))
    fs.make_directory("/d")
    file = fs.open("/d/a", create=True)
    file.write(0, [b"x"])
    file.read(0, 1)
    file.truncate(0)
    file.preallocate(5)
    file.flush()
    fs.rename("/d/a", "/d/b")
    fs.exists("/d/b")
    fs.unlink("/d/b")
    fs.sync_directory("/d")
    fs.remove_directory("/d")
    names = [operation.name for operation in fs.operations]
    assert names == [
        "make_directory",
        "create",
        "write",
        "truncate",
        "preallocate",
        "flush",
        "rename",
        "unlink",
        "sync_directory",
        "remove_directory",
    ]
    assert fs.operation_count == len(names)


def test_cold_disk_pretends_that_nothing_is_cached() -> None:
    fs = disk()
    file = fs.open("/data/file", create=True)
    assert file.is_resident(0, 1)
    fs.is_cold = True
    assert not file.is_resident(0, 1)
    assert file.fileno() is None


def test_paths_are_absolute_in_disguise_and_never_lead_upwards() -> None:
    fs = disk()
    fs.open("data//./file", create=True).close()
    assert fs.exists("/data/file")
    with pytest.raises(StorageError, match="upwards"):
        fs.exists("/data/../etc")
    with pytest.raises(StorageError, match="parent"):
        fs.open("/", create=True)
    with pytest.raises(PathMissingError):
        fs.flip_bit("/data/nothing")
    with pytest.raises(StorageError, match="is a directory"):
        fs.read_file("/data")
