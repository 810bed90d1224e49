from itertools import count

import pytest
from tests.storage.log_testing import DIRECTORY, fill, make_disk, make_log, open_log, read_all

from penstock.model.errors import StorageError
from penstock.storage.log import FilePiece
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=0, retention_ms=1_000, file_delete_delay_ms=50)


def test_files_are_renamed_then_removed() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    fill(log, 5, size=200)
    found = log.read(0, max_bytes=300, end_offset=5)
    job = log.expire(now=2_003, high_watermark=5)
    assert job is not None
    assert (job.segment_count, job.log_start_offset, job.delay_ms) == (3, 3, 50)
    assert job.size_bytes == 3 * log.size_bytes // 2
    before = set(disk.list_directory(DIRECTORY))
    job.run()
    names = disk.list_directory(DIRECTORY)
    gone = {name for name in before if name < f"{3:020d}"}
    assert {name for name in names if name.endswith(".deleted")} == {f"{name}.deleted" for name in gone}
    assert f"{1:020d}.snapshot.deleted" in names
    assert isinstance(found.pieces[0], FilePiece)
    assert len(found.read_bytes()) == found.size
    job.remove()
    assert set(disk.list_directory(DIRECTORY)) == before - gone
    assert read_all(log)


def test_power_loss_at_any_point_leaves_a_log_without_holes() -> None:
    for seed in range(30):
        disk = make_disk(seed)
        log = make_log(disk, CONFIG)
        fill(log, 5, size=200)
        job = log.expire(now=2_003, high_watermark=5)
        assert job is not None
        if seed % 3:
            job.run()
        if seed % 3 == 2:
            job.remove()
        disk.power_loss()
        log = open_log(disk, CONFIG, recovery_point=5, sealed_offset=5, log_start_offset=3)
        assert log.recovery_report.damage is None
        assert (log.log_start_offset, log.log_end_offset) == (3, 5)
        assert not any(name.endswith(".deleted") for name in disk.list_directory(DIRECTORY))


def test_segments_of_two_lives_of_a_log_that_have_the_same_names_are_removed_in_either_order() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 5, size=200)
    first = log.expire(now=2_003, high_watermark=5)
    assert first is not None
    first.run()
    log.restart(0)
    batches = fill(log, 5, size=200)
    second = log.expire(now=2_003, high_watermark=5)
    assert second is not None
    second.run()
    first.remove()
    second.remove()
    assert not any(name.endswith(".deleted") for name in disk.list_directory(DIRECTORY))
    assert b"".join(batches).endswith(read_all(log))


def fail_rename(disk: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The disk refuses one rename, of those that find what they rename."""
    rename, numbers = disk.rename, count()

    def fail_or_rename(source: str, target: str) -> None:
        if disk.exists(source) and next(numbers) == number:
            raise StorageError("input/output error")
        rename(source, target)

    monkeypatch.setattr(disk, "rename", fail_or_rename)


@pytest.mark.parametrize("number", range(6))
def test_renaming_that_failed_halfway_is_repeated_and_everything_is_removed(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 5, size=200)
    job = log.expire(now=2_003, high_watermark=5)
    assert job is not None
    staying = {name for name in disk.list_directory(DIRECTORY) if name >= f"{3:020d}"}
    fail_rename(disk, monkeypatch, number)
    with pytest.raises(StorageError):
        job.run()
    job.run()
    job.remove()
    assert set(disk.list_directory(DIRECTORY)) == staying
