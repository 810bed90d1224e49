import contextlib
from pathlib import Path
from random import Random

import pytest

from penstock.storage.broker_epoch import (
    BROKER_EPOCH_FILE,
    LastRegistration,
    has_been_member,
    read_last_registration,
    write_last_registration,
)
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem

FILE_BYTES = 30


def make_disk(seed: int = 1) -> MemoryFileSystem:
    disk = MemoryFileSystem(Random(seed))
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk


def last(epoch: int) -> LastRegistration:
    return LastRegistration(epoch=epoch, incarnation_id=bytes([epoch % 256]) * 16)


def test_registration_is_unknown_in_a_new_directory() -> None:
    disk = make_disk()
    assert read_last_registration(disk, "/data") is None
    assert not has_been_member(disk, "/data")


@pytest.mark.parametrize("epoch", [0, 17, 2**62])
def test_registration_survives_a_power_loss(epoch: int) -> None:
    disk = make_disk()
    write_last_registration(disk, "/data", last(3))
    write_last_registration(disk, "/data", last(epoch))
    disk.power_loss()
    assert read_last_registration(disk, "/data") == last(epoch)
    assert has_been_member(disk, "/data")


def test_registration_is_read_from_a_real_disk(tmp_path: Path) -> None:
    write_last_registration(RealFileSystem(), str(tmp_path), last(12))
    assert read_last_registration(RealFileSystem(), str(tmp_path)) == last(12)


def test_registration_with_any_rotten_byte_is_unknown_but_was_there() -> None:
    for position in range(FILE_BYTES):
        disk = make_disk(position)
        write_last_registration(disk, "/data", last(12))
        disk.flip_bit(f"/data/{BROKER_EPOCH_FILE}", position)
        assert read_last_registration(disk, "/data") is None
        assert has_been_member(disk, "/data")


@pytest.mark.parametrize("size", [0, 5, FILE_BYTES - 1, FILE_BYTES + 6])
def test_registration_in_a_file_of_another_size_is_unknown(size: int) -> None:
    disk = make_disk()
    write_last_registration(disk, "/data", last(12))
    disk.open(f"/data/{BROKER_EPOCH_FILE}").truncate(size)
    assert read_last_registration(disk, "/data") is None


def test_interrupted_write_leaves_the_old_registration_or_the_new_one() -> None:
    for stop in range(8):
        disk = make_disk(stop)
        write_last_registration(disk, "/data", last(1))
        disk.stop_before(disk.operation_count + stop)
        with contextlib.suppress(MachineStopped):
            write_last_registration(disk, "/data", last(2))
        disk.power_loss()
        assert read_last_registration(disk, "/data") in (last(1), last(2))
