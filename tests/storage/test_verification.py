import pytest
from tests.storage.log_testing import DIRECTORY, fill, make_disk, make_log, open_log, reopen_clean

from penstock.model.errors import CorruptLogError, StorageError
from penstock.storage.log import FilePiece, Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFile, MemoryFileSystem

CONFIG = LogConfig(index_interval_bytes=0)
SEGMENT = f"{DIRECTORY}/{0:020d}.log"


def old_log(disk: MemoryFileSystem, count: int = 10) -> tuple[Log, list[bytes]]:
    """A log that another process wrote."""
    log = make_log(disk, CONFIG, tail_bytes=0)
    batches = fill(log, count)
    return reopen_clean(disk, log), batches


def test_what_this_process_wrote_needs_no_check() -> None:
    log = make_log(make_disk(), CONFIG, tail_bytes=0)
    fill(log, 5)
    assert not log.needs_verification(log.read(0, max_bytes=10_000, end_offset=5))


def test_what_recovery_scanned_needs_no_check() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    fill(log, 5)
    disk.crash()
    log = open_log(disk, CONFIG, recovery_point=2, tail_bytes=0)
    assert not log.needs_verification(log.read(2, max_bytes=10_000, end_offset=5))
    assert log.needs_verification(log.read(0, max_bytes=10_000, end_offset=5))


def test_old_data_is_checked_once() -> None:
    log, _ = old_log(make_disk())
    found = log.read(0, max_bytes=10_000, end_offset=10)
    assert log.needs_verification(found)
    log.verify(found)
    assert not log.needs_verification(found)
    assert not log.needs_verification(log.read(4, max_bytes=10_000, end_offset=10))


def test_slice_that_cuts_a_batch_is_checked_up_to_that_batch_s_end() -> None:
    disk = make_disk()
    log, batches = old_log(disk)
    segment = log.read(0, max_bytes=10_000, end_offset=10).segment
    assert segment is not None
    found = log.read(0, max_bytes=10_000, end_offset=10)._replace(
        pieces=[FilePiece(segment.file, 0, len(batches[0]) + 10)]
    )
    log.verify(found)
    assert not log.needs_verification(found)


@pytest.mark.parametrize("position", [3, 9, 13, 16, 18, 22, 25, 40, 58, 61, 100])
def test_any_flipped_bit_in_the_slice_is_found(position: int) -> None:
    disk = make_disk()
    log, batches = old_log(disk)
    found = log.read(2, max_bytes=10_000, end_offset=10)
    disk.flip_bit(SEGMENT, 4 * len(batches[0]) + position)
    if position == 13:
        # The leader epoch: only a wrong order of epochs can be seen, and a higher one makes the next wrong.
        disk.open(SEGMENT).write(4 * len(batches[0]) + 12, [b"\x00\x00\x00\x07"])
    with pytest.raises(CorruptLogError, match=r"00\.log is damaged at position \d+, offset [45]"):
        log.verify(found)
    assert log.needs_verification(found)


def test_slice_before_the_damage_is_good() -> None:
    disk = make_disk()
    log, batches = old_log(disk)
    disk.flip_bit(SEGMENT, 4 * len(batches[0]) + 70)
    found = log.read(0, max_bytes=10_000, end_offset=4)
    log.verify(found)
    assert found.read_bytes() == b"".join(batches[:4])


def test_damage_that_hides_where_it_ends_reaches_to_the_end_of_the_segment() -> None:
    disk = make_disk()
    log, batches = old_log(disk)
    found = log.read(0, max_bytes=10_000, end_offset=10)
    disk.open(SEGMENT).write(4 * len(batches[0]), [b"\xff" * 80])
    with pytest.raises(CorruptLogError):
        log.verify(found)
    with pytest.raises(CorruptLogError):
        log.read(8, max_bytes=10_000, end_offset=10)


def test_disk_that_cannot_read_a_range_is_as_bad_as_wrong_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    log, _ = old_log(make_disk())
    found = log.read(0, max_bytes=10_000, end_offset=10)
    original = MemoryFile.read

    def fail_large(file: MemoryFile, position: int, length: int) -> bytes:
        if length > 1_000:
            raise StorageError("Could not read: Input/output error")
        return original(file, position, length)

    monkeypatch.setattr(MemoryFile, "read", fail_large)
    with pytest.raises(CorruptLogError, match="Input/output error"):
        log.verify(found)
    monkeypatch.undo()
    with pytest.raises(CorruptLogError, match="cannot be served"):
        log.read(0, max_bytes=10_000, end_offset=10)


def test_slice_from_memory_is_never_checked() -> None:
    log = make_log(make_disk())
    fill(log, 2)
    found = log.read(0, max_bytes=10_000, end_offset=2)
    assert not log.needs_verification(found)
    log.verify(found)
