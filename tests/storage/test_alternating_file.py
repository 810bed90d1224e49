import contextlib
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.errors import DiskFullError, FlushFailedError, OperatingError, UsageError
from penstock.storage.alternating_file import (
    COPY_SUFFIXES,
    PAYLOAD_BYTES_MAX,
    AlternatingContent,
    AlternatingFile,
)
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem

PATH = "/data/quorum-state"
COPIES = tuple(PATH + suffix for suffix in COPY_SUFFIXES)


def make_disk(seed: int = 1) -> MemoryFileSystem:
    disk = MemoryFileSystem(Random(seed))
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk


def written(disk: MemoryFileSystem, *payloads: bytes) -> AlternatingFile:
    file = AlternatingFile(disk, PATH)
    for payload in payloads:
        file.write(payload)
    return file


def read(disk: MemoryFileSystem) -> AlternatingContent | None:
    return AlternatingFile(disk, PATH).read()


def rot(disk: MemoryFileSystem, path: str) -> None:
    disk.flip_bit(path)


def test_file_that_was_never_written_has_nothing() -> None:
    disk = make_disk()
    assert read(disk) is None
    assert disk.list_directory("/data") == []


@pytest.mark.parametrize("payloads", [[b"one"], [b"one", b"two"], [b"a much longer one", b"two", b""]])
def test_last_payload_is_read_after_a_power_loss(payloads: list[bytes]) -> None:
    disk = make_disk()
    written(disk, *payloads)
    disk.power_loss()
    assert read(disk) == (payloads[-1], False)


def test_file_on_a_real_disk_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    AlternatingFile(RealFileSystem(), path).write(b"one")
    AlternatingFile(RealFileSystem(), path).write(b"two")
    assert AlternatingFile(RealFileSystem(), path).read() == (b"two", False)


@pytest.mark.parametrize("rotten", COPIES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_rotten_copy_loses_nothing_and_is_made_anew(rotten: str, count: int) -> None:
    disk = make_disk()
    payloads = [b"payload %d" % number for number in range(count)]
    written(disk, *payloads)
    rot(disk, rotten)
    assert read(disk) == (payloads[-1], True)
    disk.power_loss()
    assert read(disk) == (payloads[-1], False)


@pytest.mark.parametrize("missing", COPIES)
def test_one_missing_copy_loses_nothing(missing: str) -> None:
    disk = make_disk()
    written(disk, b"one", b"two")
    disk.unlink(missing)
    assert read(disk) == (b"two", False)
    assert disk.list_directory("/data") == ["quorum-state.a", "quorum-state.b"]


def test_two_unreadable_copies_are_an_error_and_not_taken_for_a_new_file() -> None:
    disk = make_disk()
    written(disk, b"one", b"two")
    for copy in COPIES:
        rot(disk, copy)
    with pytest.raises(OperatingError, match="Neither copy of /data/quorum-state"):
        read(disk)
    file = AlternatingFile(disk, PATH)
    for _ in range(2):
        with pytest.raises(OperatingError, match="Neither copy"):
            file.write(b"three")


@pytest.mark.parametrize("content", [b"", b"\0" * 17, b"x" * (PAYLOAD_BYTES_MAX + 100)])
def test_copy_of_nonsense_is_unreadable(content: bytes) -> None:
    disk = make_disk()
    written(disk, b"one")
    file = disk.open(COPIES[0])
    file.truncate(0)
    file.write(0, [content])
    assert read(disk) == (b"one", True)


def test_payload_beyond_the_limit_is_refused() -> None:
    disk = make_disk()
    file = written(disk, b"one")
    with pytest.raises(UsageError, match="1048576 bytes, not 1048577"):
        file.write(b"x" * (PAYLOAD_BYTES_MAX + 1))
    assert read(disk) == (b"one", False)


def test_failed_write_leaves_the_old_payload_and_can_be_followed_by_another() -> None:
    disk = make_disk()
    file = written(disk, b"one")
    disk.capacity_bytes = disk.used_bytes
    with pytest.raises(DiskFullError):
        file.write(b"a longer one")
    assert read(disk) == (b"one", True)
    disk.capacity_bytes = 1 << 20
    file.write(b"two")
    disk.power_loss()
    assert read(disk) == (b"two", False)


def test_names_are_made_durable_by_the_first_write_that_succeeds() -> None:
    disk = make_disk()
    file = AlternatingFile(disk, PATH)
    disk.fail_flush(COPIES[1])
    with pytest.raises(FlushFailedError):
        file.write(b"one")
    file.write(b"two")
    disk.power_loss()
    assert read(disk) == (b"two", False)


def until(disk: MemoryFileSystem, stop: int, *payloads: bytes) -> tuple[list[bytes], bool]:
    """Write until the machine stops; what was promised, and whether it stopped."""
    disk.stop_before(disk.operation_count + stop)
    promised = []
    with contextlib.suppress(MachineStopped):
        file = AlternatingFile(disk, PATH)
        for payload in payloads:
            file.write(payload)
            promised.append(payload)
        return promised, False
    return promised, True


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("rots", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_interrupted_writes_lose_nothing_promised(ending: str, rots: bool, seed: int) -> None:
    payloads = [b"first", b"the second, which is longer" * 40, b"third"]
    stop = 0
    while True:
        disk = make_disk(seed * 1000 + stop)
        promised, was_stopped = until(disk, stop, *payloads)
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        if rots and not was_stopped:
            rot(disk, COPIES[seed % 2])
        found = read(disk)
        following = payloads[len(promised) : len(promised) + 1]
        allowed: list[bytes | None] = [*promised[-1:], *following]
        allowed += [] if promised else [None]
        payload = None if found is None else found.payload
        assert payload in allowed, f"stopped before operation {stop}"
        # What was read is durable, whatever happens next.
        disk.power_loss()
        again = read(disk)
        assert again == (None if payload is None else (payload, False))
        if not was_stopped:
            return
        stop += 1


@pytest.mark.parametrize("torn", COPIES)
def test_write_after_a_failed_one_never_risks_the_copy_that_is_left(torn: str) -> None:
    for seed, stop in product(range(100), range(7)):
        disk = make_disk(seed)
        file = written(disk, b"one" * 300)
        disk.fail_flush(torn)
        with pytest.raises(FlushFailedError):
            file.write(b"two" * 300)
        disk.stop_before(disk.operation_count + stop)
        with contextlib.suppress(MachineStopped):
            file.write(b"three" * 300)
        disk.power_loss()
        found = read(disk)
        assert found is not None
        assert found.payload in (b"one" * 300, b"two" * 300, b"three" * 300)


def test_start_that_reads_may_be_interrupted_and_goes_on_from_there() -> None:
    for stop in range(40):
        for again in range(10):
            disk = make_disk(stop * 10 + again)
            promised, _ = until(disk, stop, b"first", b"second" * 200)
            disk.crash()
            disk.stop_before(disk.operation_count + again)
            told = None
            with contextlib.suppress(MachineStopped):
                found = read(disk)
                told = None if found is None else found.payload
            disk.power_loss()
            found = read(disk)
            payload = None if found is None else found.payload
            if told is not None:
                assert payload == told
            if promised:
                assert payload in (promised[-1], b"second" * 200)


@settings(deadline=None)
@given(payloads=st.lists(st.binary(max_size=2000), min_size=1, max_size=6), seed=st.integers(0, 100))
def test_any_payloads_are_read_back_by_the_next_process(payloads: list[bytes], seed: int) -> None:
    disk = make_disk(seed)
    for payload in payloads:
        file = AlternatingFile(disk, PATH)
        file.write(payload)
        disk.power_loss()
        assert read(disk) == (payload, False)
