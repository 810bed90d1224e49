from random import Random

import pytest

from penstock.model.errors import CorruptLogError, FlushFailedError, OperatingError, StorageError
from penstock.model.ids import Millis
from penstock.storage.atomic_file import write_atomically
from penstock.storage.flush_failures import (
    WINDOW_MS,
    check_flush_failures,
    keeps_from_restarting,
    read_flush_failures,
    record_flush_failure,
)
from penstock.storage.memory_filesystem import MemoryFileSystem

NOW = 1_700_000_000_000


def at(offset_ms: int) -> Millis:
    return Millis(NOW + offset_ms)


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem(Random(1))
    fs.make_directory("/data")
    fs.sync_directory("/")
    return fs


@pytest.mark.parametrize(
    ("error", "keeps"),
    [
        (FlushFailedError("Input/output error"), True),
        (StorageError("cannot be opened"), True),
        (CorruptLogError("the checksum does not match"), False),
    ],
)
def test_rot_alone_keeps_no_process_from_starting_again(error: StorageError, *, keeps: bool) -> None:
    assert keeps_from_restarting(error) is keeps


def test_start_without_failures_is_allowed(fs: MemoryFileSystem) -> None:
    check_flush_failures(fs, "/data", at(0))


def test_start_after_one_failure_is_allowed(fs: MemoryFileSystem) -> None:
    assert record_flush_failure(fs, "/data", at(0))
    check_flush_failures(fs, "/data", at(1))


def test_start_after_two_failures_in_ten_minutes_is_refused_with_advice(fs: MemoryFileSystem) -> None:
    record_flush_failure(fs, "/data", at(0))
    record_flush_failure(fs, "/data", at(WINDOW_MS - 1))
    fs.power_loss()
    with pytest.raises(OperatingError, match=r"2 times within 10 minutes.*remove /data/flush-failures"):
        check_flush_failures(fs, "/data", at(WINDOW_MS))


def test_start_is_allowed_again_when_the_failures_are_old(fs: MemoryFileSystem) -> None:
    record_flush_failure(fs, "/data", at(0))
    record_flush_failure(fs, "/data", at(1))
    check_flush_failures(fs, "/data", at(WINDOW_MS + 1))


def test_failures_far_in_the_future_do_not_lock_the_broker_out(fs: MemoryFileSystem) -> None:
    record_flush_failure(fs, "/data", at(0))
    record_flush_failure(fs, "/data", at(1))
    check_flush_failures(fs, "/data", at(-10 * WINDOW_MS))


def test_only_the_newest_failures_are_remembered(fs: MemoryFileSystem) -> None:
    for number in range(40):
        record_flush_failure(fs, "/data", at(number))
    assert read_flush_failures(fs, "/data") == [at(number) for number in range(24, 40)]


def test_unreadable_lines_are_skipped(fs: MemoryFileSystem) -> None:
    write_atomically(fs, "/data/flush-failures", b"\xff\xfe\n123\n\n-5\nabc\n")
    assert read_flush_failures(fs, "/data") == [123]


def test_recording_on_a_broken_disk_says_that_it_did_not_work(fs: MemoryFileSystem) -> None:
    fs.fail_flush("flush-failures")
    assert not record_flush_failure(fs, "/data", at(0))
