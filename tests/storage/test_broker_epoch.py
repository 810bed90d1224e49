import contextlib
from pathlib import Path
from random import Random

import pytest

from penstock.storage.broker_epoch import BROKER_EPOCH_FILE, read_broker_epoch, write_broker_epoch
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem


def make_disk(seed: int = 1) -> MemoryFileSystem:
    disk = MemoryFileSystem(Random(seed))
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk


def test_epoch_is_unknown_in_a_new_directory() -> None:
    assert read_broker_epoch(make_disk(), "/data") is None


@pytest.mark.parametrize("epoch", [0, 17, 2**62])
def test_epoch_survives_a_power_loss(epoch: int) -> None:
    disk = make_disk()
    write_broker_epoch(disk, "/data", 3)
    write_broker_epoch(disk, "/data", epoch)
    disk.power_loss()
    assert read_broker_epoch(disk, "/data") == epoch


def test_epoch_is_read_from_a_real_disk(tmp_path: Path) -> None:
    write_broker_epoch(RealFileSystem(), str(tmp_path), 12)
    assert read_broker_epoch(RealFileSystem(), str(tmp_path)) == 12


def test_epoch_with_any_rotten_byte_is_unknown() -> None:
    for position in range(14):
        disk = make_disk(position)
        write_broker_epoch(disk, "/data", 12)
        disk.flip_bit(f"/data/{BROKER_EPOCH_FILE}", position)
        assert read_broker_epoch(disk, "/data") is None


@pytest.mark.parametrize("size", [0, 5, 13, 20])
def test_epoch_in_a_file_of_another_size_is_unknown(size: int) -> None:
    disk = make_disk()
    write_broker_epoch(disk, "/data", 12)
    disk.open(f"/data/{BROKER_EPOCH_FILE}").truncate(size)
    assert read_broker_epoch(disk, "/data") is None


def test_interrupted_write_leaves_the_old_epoch_or_the_new_one() -> None:
    for stop in range(8):
        disk = make_disk(stop)
        write_broker_epoch(disk, "/data", 1)
        disk.stop_before(disk.operation_count + stop)
        with contextlib.suppress(MachineStopped):
            write_broker_epoch(disk, "/data", 2)
        disk.power_loss()
        assert read_broker_epoch(disk, "/data") in (1, 2)
