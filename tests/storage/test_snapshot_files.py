import contextlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import DIRECTORY, fill, make_log, open_log, read_all
from tests.storage.log_testing import make_disk as make_log_disk

from penstock.model.errors import DiskFullError, FlushFailedError, InvariantError
from penstock.storage.filesystem import FileSystem, PathMissingError
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem
from penstock.storage.snapshot_files import SnapshotFiles

PATH = "/data/__cluster_metadata-0"
CONTENT = bytes(range(256)) * 8


def make_disk(seed: int = 1) -> MemoryFileSystem:
    disk = MemoryFileSystem(Random(seed))
    for parent, path in (("/", "/data"), ("/data", PATH)):
        disk.make_directory(path)
        disk.sync_directory(parent)
    return disk


def put(files: SnapshotFiles, end_offset: int, epoch: int, content: bytes, *, piece_bytes: int = 700) -> None:
    for position in range(0, max(1, len(content)), piece_bytes):
        files.append(end_offset, epoch, position, content[position : position + piece_bytes])
    files.complete(end_offset, epoch)


def read_all_pieces(files: SnapshotFiles, end_offset: int, epoch: int, *, bytes_max: int = 300) -> bytes:
    content = b""
    while True:
        piece = files.read_piece(end_offset, epoch, len(content), bytes_max)
        assert piece is not None
        assert len(piece.data) <= bytes_max
        content += piece.data
        if len(content) == piece.size_bytes:
            return content


def test_snapshot_has_kafkas_name_and_is_read_in_pieces() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    assert files.newest() is None
    put(files, 123, 7, CONTENT)
    assert disk.list_directory(PATH) == ["00000000000000000123-0000000007.checkpoint"]
    assert files.newest() == (123, 7)
    assert read_all_pieces(files, 123, 7) == CONTENT
    disk.power_loss()
    again = SnapshotFiles.open(disk, PATH)
    assert again.newest() == (123, 7)
    assert read_all_pieces(again, 123, 7) == CONTENT


def test_snapshot_on_a_real_disk_is_found_again(tmp_path: Path) -> None:
    put(SnapshotFiles.open(RealFileSystem(), str(tmp_path)), 0, 0, CONTENT)
    again = SnapshotFiles.open(RealFileSystem(), str(tmp_path))
    assert again.present() == ((0, 0),)
    assert read_all_pieces(again, 0, 0) == CONTENT


def test_empty_snapshot_is_a_snapshot() -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    put(files, 5, 1, b"")
    piece = files.read_piece(5, 1, 0, 100)
    assert piece == (b"", 0)


def test_snapshot_is_not_there_before_it_is_complete() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    files.append(10, 1, 0, b"some")
    assert files.newest() is None
    assert files.read_piece(10, 1, 0, 100) is None
    assert disk.list_directory(PATH) == ["00000000000000000010-0000000001.checkpoint.part"]


def test_piece_at_position_0_begins_anew() -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    files.append(10, 1, 0, b"a long beginning")
    files.append(10, 1, 0, b"anew")
    files.append(10, 1, 4, b" and on")
    files.complete(10, 1)
    assert read_all_pieces(files, 10, 1) == b"anew and on"


@pytest.mark.parametrize("position", [1, 3, 5])
def test_piece_at_another_place_than_the_end_is_a_bug(position: int) -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    files.append(10, 1, 0, b"some")
    with pytest.raises(InvariantError, match="has 4 bytes"):
        files.append(10, 1, position, b"more")


def test_piece_without_a_beginning_and_completion_without_pieces_fail() -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    with pytest.raises(PathMissingError):
        files.append(10, 1, 4, b"more")
    with pytest.raises(PathMissingError):
        files.complete(10, 1)
    assert files.newest() is None


def test_two_snapshots_can_be_put_together_at_once() -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    files.append(10, 1, 0, b"first")
    files.append(20, 1, 0, b"second")
    files.append(10, 1, 5, b" one")
    files.complete(20, 1)
    files.complete(10, 1)
    assert files.present() == ((10, 1), (20, 1))
    assert read_all_pieces(files, 10, 1) == b"first one"


def test_all_but_the_newest_two_go_when_a_new_one_is_complete() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    for end_offset, epoch in ((10, 1), (20, 1), (20, 2), (30, 2)):
        put(files, end_offset, epoch, CONTENT)
    assert files.present() == ((20, 2), (30, 2))
    assert files.read_piece(20, 1, 0, 100) is None
    assert len(disk.list_directory(PATH)) == 2
    # One that comes late is too old to be kept.
    put(files, 15, 1, CONTENT)
    assert files.present() == ((20, 2), (30, 2))


def test_same_snapshot_completed_again_takes_the_place_of_the_first() -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    put(files, 10, 1, b"rotten")
    put(files, 10, 1, b"good")
    assert files.present() == ((10, 1),)
    assert read_all_pieces(files, 10, 1) == b"good"


def test_discarded_snapshot_is_gone_for_good_and_the_one_before_is_the_newest() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    put(files, 10, 1, b"good")
    put(files, 20, 1, b"nonsense")
    files.discard(20, 1)
    files.discard(20, 1)
    assert files.newest() == (10, 1)
    assert files.read_piece(20, 1, 0, 100) is None
    disk.power_loss()
    assert SnapshotFiles.open(disk, PATH).present() == ((10, 1),)


def test_abandoned_pieces_are_removed() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    files.append(10, 1, 0, b"some")
    files.abandon(10, 1)
    files.abandon(10, 1)
    assert disk.list_directory(PATH) == []


def test_oldest_of_many_snapshots_that_nobody_completed_goes() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    for end_offset in (10, 20, 30, 40, 50, 50, 60):
        files.append(end_offset, 1, 0, b"some")
    assert [int(name[:20]) for name in disk.list_directory(PATH)] == [30, 40, 50, 60]


def test_open_removes_pieces_and_leaves_what_is_not_a_snapshot() -> None:
    disk = make_disk()
    strangers = ["00000000000000000000.log", "1-1.checkpoint", "leader-epoch-checkpoint", "quorum-state.a"]
    for name in [*strangers, "00000000000000000009-0000000001.checkpoint.part"]:
        disk.open(f"{PATH}/{name}", create=True).close()
    assert SnapshotFiles.open(disk, PATH).present() == ()
    assert disk.list_directory(PATH) == strangers


def test_full_disk_leaves_the_snapshots_that_are_there() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    put(files, 10, 1, b"good")
    disk.capacity_bytes = disk.used_bytes + 100
    with pytest.raises(DiskFullError):
        files.append(20, 1, 0, CONTENT)
    files.abandon(20, 1)
    assert files.present() == ((10, 1),)
    assert read_all_pieces(files, 10, 1) == b"good"


def test_flush_that_fails_completes_nothing() -> None:
    disk = make_disk()
    files = SnapshotFiles.open(disk, PATH)
    files.append(10, 1, 0, CONTENT)
    disk.fail_flush(".part")
    with pytest.raises(FlushFailedError):
        files.complete(10, 1)
    assert files.newest() is None
    assert SnapshotFiles.open(disk, PATH).newest() is None


def test_log_beside_snapshots_opens_and_begins_anew_without_touching_them() -> None:
    disk = make_log_disk()
    log = make_log(disk, tail_bytes=0)
    batches = fill(log, 5)
    files = SnapshotFiles.open(disk, DIRECTORY)
    put(files, 5, 1, CONTENT)
    files.append(9, 1, 0, CONTENT)
    disk.crash()
    log = open_log(disk, recovery_point=5, sealed_offset=5, tail_bytes=0)
    assert read_all(log) == b"".join(batches)
    log.restart(9)
    assert read_all_pieces(files, 5, 1) == CONTENT
    files.complete(9, 1)
    assert SnapshotFiles.open(disk, DIRECTORY).present() == ((5, 1), (9, 1))


def contents(filesystem: FileSystem) -> dict[tuple[int, int], bytes]:
    files = SnapshotFiles.open(filesystem, PATH)
    return {(name.end_offset, name.epoch): read_all_pieces(files, *name) for name in files.present()}


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("seed", range(3))
def test_interrupted_snapshot_is_whole_or_not_there_and_one_is_always_left(ending: str, seed: int) -> None:
    wanted = {(10 * number, number): bytes([number]) * 1500 for number in range(1, 5)}
    stop = 0
    while True:
        disk = make_disk(seed * 1000 + stop)
        disk.stop_before(disk.operation_count + stop)
        promised = []
        was_stopped = True
        with contextlib.suppress(MachineStopped):
            files = SnapshotFiles.open(disk, PATH)
            for name, content in wanted.items():
                put(files, *name, content)
                promised.append(name)
            was_stopped = False
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        found = contents(disk)
        assert all(content == wanted[name] for name, content in found.items())
        if promised:
            assert max(found) >= promised[-1], f"stopped before operation {stop}"
        assert [name for name in disk.list_directory(PATH) if name.endswith(".part")] == []
        # What a start has seen stays.
        disk.power_loss()
        assert contents(disk) == found
        if not was_stopped:
            return
        stop += 1


@settings(deadline=None, max_examples=50)
@given(content=st.binary(max_size=3000), piece_bytes=st.integers(1, 4000), bytes_max=st.integers(1, 4000))
def test_any_content_is_read_as_it_was_put_together(content: bytes, piece_bytes: int, bytes_max: int) -> None:
    files = SnapshotFiles.open(make_disk(), PATH)
    put(files, 10, 1, content, piece_bytes=max(piece_bytes, len(content) // 50 + 1))
    assert read_all_pieces(files, 10, 1, bytes_max=max(bytes_max, len(content) // 50 + 1)) == content
