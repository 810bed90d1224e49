from random import Random

import pytest

from penstock.model.errors import DiskFullError, FlushFailedError
from penstock.storage.atomic_file import replace_file, write_atomically
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

OLD, NEW = b"old content" * 100, b"new content, longer than before" * 100


def disk_with_old_content(seed: int) -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(seed))
    fs.make_directory("/data")
    fs.sync_directory("/")
    write_atomically(fs, "/data/file", OLD)
    return fs


def test_write_atomically_replaces_content_and_leaves_no_temporary_file() -> None:
    fs = disk_with_old_content(1)
    write_atomically(fs, "/data/file", NEW)
    write_atomically(fs, "/data/file", b"short")
    assert fs.read_file("/data/file") == b"short"
    assert fs.list_directory("/data") == ["file"]


def test_write_atomically_is_durable_when_it_returns() -> None:
    for seed in range(50):
        fs = disk_with_old_content(seed)
        write_atomically(fs, "/data/file", NEW)
        fs.power_loss()
        assert fs.read_file("/data/file") == NEW


@pytest.mark.parametrize("fall", ["crash", "power_loss"])
def test_write_atomically_stopped_anywhere_leaves_old_or_new(fall: str) -> None:
    counting = disk_with_old_content(0)
    first = counting.operation_count
    write_atomically(counting, "/data/file", NEW)
    found = set()
    for seed in range(20):
        for number in range(first, counting.operation_count):
            fs = disk_with_old_content(seed)
            fs.stop_before(number)
            with pytest.raises(MachineStopped):
                write_atomically(fs, "/data/file", NEW)
            getattr(fs, fall)()
            found.add(fs.read_file("/data/file"))
            write_atomically(fs, "/data/file", b"again")
            assert fs.read_file("/data/file") == b"again"
    assert found == {OLD, NEW}


def test_replace_file_without_directory_sync_may_lose_the_new_content() -> None:
    def content(seed: int) -> bytes:
        fs = disk_with_old_content(seed)
        replace_file(fs, "/data/file", NEW)
        fs.power_loss()
        return fs.read_file("/data/file")

    assert {content(seed) for seed in range(50)} == {OLD, NEW}


def test_write_atomically_on_a_full_disk_keeps_the_old_content() -> None:
    fs = disk_with_old_content(1)
    fs.capacity_bytes = fs.used_bytes + 10
    with pytest.raises(DiskFullError):
        write_atomically(fs, "/data/file", NEW)
    assert fs.read_file("/data/file") == OLD


@pytest.mark.parametrize("part", ["file.tmp", "/data"])
def test_write_atomically_with_a_failing_flush_raises(part: str) -> None:
    fs = disk_with_old_content(1)
    fs.fail_flush(part)
    with pytest.raises(FlushFailedError):
        write_atomically(fs, "/data/file", NEW)
