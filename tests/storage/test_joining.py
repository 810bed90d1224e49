import contextlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from penstock.model.errors import DirectoryInUseError, InvariantError
from penstock.model.ids import Millis, NodeId
from penstock.storage.directory_identity import JOINING_FILE
from penstock.storage.filesystem import FileSystem
from penstock.storage.joining import offered_directory_id
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem

PATH = "/var/lib/penstock"
FILE = f"{PATH}/{JOINING_FILE}"


def uuids(seed: int) -> Callable[[], bytes]:
    rng = Random(seed)
    return lambda: rng.randbytes(16)


def open_directory(
    fs: FileSystem, path: str, directory_id: bytes | None, *, node_id: int = 5
) -> LogDirectory:
    options = DirectoryOptions(
        node_id=NodeId(node_id),
        cluster_id="cluster",
        directory_id=directory_id,
        new_uuid=uuids(99),
        reserve_bytes=0,
    )
    return LogDirectory.open(fs, path, options, now=Millis(0))


def test_offered_id_is_the_same_however_often_a_joiner_asks() -> None:
    disk = MemoryFileSystem(Random(1))
    offered = offered_directory_id(disk, PATH, uuids(1))
    assert offered_directory_id(disk, PATH, uuids(2)) == offered
    disk.power_loss()
    assert offered_directory_id(disk, PATH, uuids(3)) == offered


def test_directory_that_joined_has_the_id_it_offered(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "data")
    fs = RealFileSystem()
    offered = offered_directory_id(fs, path, uuids(1))
    directory = open_directory(fs, path, offered)
    assert directory.meta.directory_id == offered
    assert directory.meta.node_id == 5
    assert not fs.exists(f"{path}/{JOINING_FILE}")
    directory.abandon()
    again = open_directory(fs, path, None)
    assert again.meta.directory_id == offered
    again.abandon()


def test_directory_with_an_identity_keeps_it() -> None:
    disk = MemoryFileSystem(Random(1))
    directory = open_directory(disk, PATH, None)
    own = directory.meta.directory_id
    directory.abandon()
    assert open_directory(disk, PATH, bytes(16)).meta.directory_id == own
    disk.crash()
    with pytest.raises(InvariantError, match="has an identity"):
        offered_directory_id(disk, PATH, uuids(1))


def test_offer_left_behind_by_an_outage_goes_at_the_next_start() -> None:
    disk = MemoryFileSystem(Random(1))
    offered = offered_directory_id(disk, PATH, uuids(1))
    content = disk.read_file(FILE)
    open_directory(disk, PATH, offered).abandon()
    file = disk.open(FILE, create=True)
    file.write(0, [content])
    file.flush()
    assert open_directory(disk, PATH, None).meta.directory_id == offered
    assert not disk.exists(FILE)


def test_directory_in_use_cannot_be_offered() -> None:
    disk = MemoryFileSystem(Random(1))
    open_directory(disk, PATH, None)
    with pytest.raises(DirectoryInUseError):
        offered_directory_id(disk, PATH, uuids(1))


@pytest.mark.parametrize(
    "content", [b"", b"0\n", b"\xff" * 20, b"0 AAAAAAAAAAAAAAAAAAAAAA 00000001\n", b"x" * 999]
)
def test_unreadable_offer_is_made_anew(content: bytes) -> None:
    disk = MemoryFileSystem(Random(1))
    offered_directory_id(disk, PATH, uuids(1))
    file = disk.open(FILE)
    file.truncate(0)
    file.write(0, [content])
    offered = offered_directory_id(disk, PATH, uuids(2))
    assert offered == uuids(2)()
    assert offered_directory_id(disk, PATH, uuids(3)) == offered


@pytest.mark.parametrize("ending", ["killed", "power"])
def test_id_that_was_offered_is_never_replaced_by_another(ending: str) -> None:
    """Whatever an outage interrupts: from the first time somebody could be told the id, it stays."""
    for stop in range(40):
        disk = MemoryFileSystem(Random(stop))
        disk.stop_before(stop)
        offered = None
        with contextlib.suppress(MachineStopped):
            offered = offered_directory_id(disk, PATH, uuids(1))
            open_directory(disk, PATH, offered)
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        again = identity(disk, seed=2)
        if offered is not None:
            assert again == offered, f"stopped before operation {stop}"
        disk.power_loss()
        assert identity(disk, seed=3) == again


def identity(disk: MemoryFileSystem, *, seed: int) -> bytes:
    """As a joiner starts: with the identity it has, or with the id it offers."""
    directory_id = None
    if not disk.exists(f"{PATH}/meta.properties"):
        directory_id = offered_directory_id(disk, PATH, uuids(seed))
        disk.power_loss()
        assert offered_directory_id(disk, PATH, uuids(seed + 10)) == directory_id
    directory = open_directory(disk, PATH, directory_id)
    directory.abandon()
    return directory.meta.directory_id
