import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from penstock.model.errors import DiskFullError, FlushFailedError, StorageError
from penstock.storage.faulty_filesystem import FaultyFileSystem, Means, with_failpoints
from penstock.storage.memory_filesystem import MemoryFileSystem


class Witness:
    """Remembers how long it should have slept and whether it was killed."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.kills = 0

    def kill(self) -> None:
        self.kills += 1


def faulty(text: str, witness: Witness | None = None) -> FaultyFileSystem:
    witness = witness or Witness()
    inner = MemoryFileSystem(Random(1))
    inner.make_directory("/data")
    return FaultyFileSystem(inner, text, means=Means(sleep=witness.slept.append, kill=witness.kill))


def test_with_failpoints_wraps_only_when_asked() -> None:
    inner = MemoryFileSystem(Random(1))
    assert with_failpoints(inner, {}) is inner
    assert with_failpoints(inner, {"PENSTOCK_FAILPOINTS": ""}) is inner
    wrapped = with_failpoints(inner, {"PENSTOCK_FAILPOINTS": "open:error=EMFILE"})
    with pytest.raises(StorageError, match="Too many open files"):
        wrapped.open("/file", create=True)


def test_struck_flush_fails_for_ever_on_that_file_only() -> None:
    fs = faulty("flush:error=EIO:after=1:count=1")
    file, other = fs.open("/data/file", create=True), fs.open("/data/other", create=True)
    file.flush()
    with pytest.raises(FlushFailedError):
        file.flush()
    with pytest.raises(FlushFailedError):
        file.flush()
    other.flush()


def test_struck_directory_sync_fails_for_ever() -> None:
    fs = faulty("flush:error=EIO:count=1:path=/data")
    with pytest.raises(FlushFailedError):
        fs.sync_directory("/data")
    with pytest.raises(FlushFailedError):
        fs.sync_directory("/data")
    fs.sync_directory("/")


def test_struck_write_leaves_the_first_half() -> None:
    fs = faulty("write:error=ENOSPC:after=1")
    file = fs.open("/data/file", create=True)
    file.write(0, [b"whole"])
    with pytest.raises(DiskFullError):
        file.write(5, [b"ab", b"cdef"])
    assert file.read(0, 100) == b"wholeabc"


def test_delay_waits_and_then_does_it() -> None:
    witness = Witness()
    fs = faulty("write:delay=15ms", witness)
    file = fs.open("/data/file", create=True)
    file.write(0, [b"x"])
    assert witness.slept == [0.015]
    assert fs.read_file("/data/file") == b"x"


def test_kill_ends_the_process_before_the_operation() -> None:
    witness = Witness()
    faulty("make_directory:kill", witness).make_directory("/data/x")
    assert witness.kills == 1


@pytest.mark.parametrize(
    "operation", ["read", "truncate", "preallocate", "make_directory", "remove_directory", "rename", "unlink"]
)
def test_every_operation_can_be_struck(operation: str) -> None:
    fs = faulty(f"{operation}:error=EIO")
    file = fs.open("/data/file", create=True)
    calls: dict[str, Callable[[], object]] = {
        "read": lambda: file.read(0, 1),
        "truncate": lambda: file.truncate(0),
        "preallocate": lambda: file.preallocate(1),
        "make_directory": lambda: fs.make_directory("/data/new"),
        "remove_directory": lambda: fs.remove_directory("/data"),
        "rename": lambda: fs.rename("/data/file", "/data/target"),
        "unlink": lambda: fs.unlink("/data/file"),
    }
    with pytest.raises(StorageError, match="Input/output error"):
        calls[operation]()
    assert fs.list_directory("/data") == ["file"]


@pytest.mark.slow
def test_real_process_dies_at_the_ordered_flush(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from penstock.storage.faulty_filesystem import with_failpoints\n"
        "from penstock.storage.real_filesystem import RealFileSystem\n"
        "file = with_failpoints(RealFileSystem(), os.environ).open(sys.argv[1], create=True)\n"
        "for number in range(10):\n"
        "    file.write(number, [b'x'])\n"
        "    file.flush()\n"
    )
    environment = {**os.environ, "PENSTOCK_FAILPOINTS": "flush:kill:after=3"}
    finished = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "file")], env=environment, check=False
    )
    assert finished.returncode == -9
    assert (tmp_path / "file").read_bytes() == b"xxxx"
