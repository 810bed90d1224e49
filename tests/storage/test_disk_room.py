from random import Random

import pytest

from penstock.model.errors import DiskFullError
from penstock.storage.disk_room import RESERVE_BYTES, DiskRoom, soft_limit_bytes
from penstock.storage.filesystem import DiskUsage
from penstock.storage.memory_filesystem import MemoryFileSystem

MIB = 1024 * 1024
GIB = 1024 * MIB


def disk(capacity_bytes: int) -> tuple[MemoryFileSystem, DiskRoom]:
    fs = MemoryFileSystem(Random(1), capacity_bytes=capacity_bytes)
    fs.make_directory("/data")
    return fs, DiskRoom(fs, "/data")


def fill(fs: MemoryFileSystem, free_bytes: int) -> None:
    file = fs.open("/filler", create=True)
    file.truncate(0)
    file.truncate(fs.free_bytes - free_bytes)
    file.close()


@pytest.mark.parametrize(
    ("total", "limit"), [(100 * MIB, 5 * MIB), (10 * GIB, GIB // 2), (20 * GIB, GIB), (1000 * GIB, GIB)]
)
def test_soft_limit_is_five_percent_but_never_more_than_a_gigabyte(total: int, limit: int) -> None:
    assert soft_limit_bytes(DiskUsage(total_bytes=total, free_bytes=0)) == limit


def test_look_makes_the_reserve_once_and_answers_the_usage() -> None:
    fs, room = disk(100 * MIB)
    usage = room.look()
    assert usage == DiskUsage(total_bytes=100 * MIB, free_bytes=100 * MIB)
    assert fs.size("/data/reserve") == RESERVE_BYTES
    before = fs.operation_count
    room.look()
    assert fs.operation_count == before
    assert not room.is_low


def test_room_is_low_below_the_soft_limit_and_comes_back() -> None:
    fs, room = disk(100 * MIB)
    fill(fs, 5 * MIB - 1)
    room.look()
    is_low_when_full = room.is_low
    assert not fs.exists("/data/reserve")
    fill(fs, 50 * MIB)
    room.look()
    assert (is_low_when_full, room.is_low) == (True, False)
    assert fs.exists("/data/reserve")


def test_reserve_is_not_made_where_it_would_take_half_of_what_is_left() -> None:
    fs, room = disk(2 * RESERVE_BYTES)
    room.look()
    assert not fs.exists("/data/reserve")
    assert not room.is_low


def test_released_reserve_gives_its_room_back_once() -> None:
    fs, room = disk(100 * MIB)
    room.look()
    fill(fs, 0)
    assert room.release_reserve()
    assert fs.free_bytes == RESERVE_BYTES
    assert room.is_low
    assert not room.release_reserve()


def test_reserve_of_the_wrong_size_is_completed() -> None:
    fs, room = disk(100 * MIB)
    fs.open("/data/reserve", create=True).close()
    room.look()
    assert fs.size("/data/reserve") == RESERVE_BYTES


def test_reserve_that_finds_no_room_after_all_counts_as_low(monkeypatch: pytest.MonkeyPatch) -> None:
    fs, room = disk(100 * MIB)
    answer = fs.usage("/data")
    fill(fs, 1 * MIB)
    monkeypatch.setattr(fs, "usage", lambda _: answer)
    room.look()
    assert room.is_low


def test_write_that_finds_no_room_gets_the_reserve_and_then_nothing() -> None:
    fs, room = disk(100 * MIB)
    room.look()
    fill(fs, 0)
    file = fs.open("/data/small", create=True)
    room.use_reserve(lambda: file.write(0, [b"x" * 1000]))
    assert fs.size("/data/small") == 1000
    assert not fs.exists("/data/reserve")
    fill(fs, 0)
    with pytest.raises(DiskFullError):
        room.use_reserve(lambda: file.write(1000, [b"x" * 1000]))
