import pytest
from tests.storage.log_testing import (
    DIRECTORY,
    fill,
    make_batch,
    make_disk,
    make_log,
    open_log,
    put,
    read_all,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, DiskFullError, InvariantError
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=0)


def run_full(disk: MemoryFileSystem, log: Log, room: int) -> None:
    """Let the next flush find only ``room`` bytes on the disk."""
    disk.capacity_bytes = disk.used_bytes + room
    with pytest.raises(DiskFullError):
        log.flush()


def test_full_disk_refuses_appends_keeps_reads_and_comes_back() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    batches = fill(log, 3)
    put(log, make_batch(b"x" * 200))
    run_full(disk, log, 50)
    assert log.needs_rewind
    assert (log.flushed_offset, log.log_end_offset) == (3, 3)
    with pytest.raises(ApiError, match="No space left") as caught:
        put(log, make_batch(b"refused"))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert read_all(log) == b"".join(batches)
    log.rewind()
    assert log.begin_rewind() is None
    assert disk.size(f"{DIRECTORY}/{0:020d}.log") == len(b"".join(batches))
    disk.capacity_bytes = 1 << 30
    batches += fill(log, 3)
    assert read_all(log) == b"".join(batches)


@pytest.mark.parametrize("room", [0, 100, 700, 760, 900, 1_000, 1_100, 1_200, 1_400])
def test_full_disk_during_rolls_is_undone_wherever_it_strikes(room: int) -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    batches = fill(log, 3)
    for _ in range(12):
        put(log, make_batch(b"x" * 200))
    run_full(disk, log, room)
    log.rewind()
    names = [name.rpartition(".")[::2] for name in disk.list_directory(DIRECTORY)]
    assert [name for name, suffix in names if suffix in ("log", "snapshot")] == [f"{0:020d}"]
    disk.capacity_bytes = 1 << 30
    batches += fill(log, 12)
    assert read_all(log) == b"".join(batches)
    log.close()
    again = open_log(disk, CONFIG, recovery_point=15, clean=True, tail_bytes=0)
    assert read_all(again) == b"".join(batches)


def test_producers_forget_what_was_discarded() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    put(log, make_batch(b"a", producer=(7, 0, 0)))
    log.flush()
    put(log, make_batch(b"b", producer=(7, 0, 1)))
    put(log, make_batch(b"c", producer=(8, 0, 0)))
    run_full(disk, log, 10)
    disk.capacity_bytes = 1 << 30
    log.rewind()
    assert log.producers.get(8) is None
    result = put(log, make_batch(b"b", producer=(7, 0, 1)))
    assert (result.is_duplicate, result.base_offset) == (False, 1)


def test_epochs_forget_what_was_discarded() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    put(log, make_batch(b"a"), leader_epoch=1)
    log.flush()
    put(log, make_batch(b"b"), leader_epoch=2)
    run_full(disk, log, 10)
    assert log.leader_epochs.starts == ((1, 0),)


def test_largest_timestamp_forgets_what_was_discarded() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 2)
    put(log, make_batch(b"b", timestamp=99_999))
    run_full(disk, log, 10)
    disk.capacity_bytes = 1 << 30
    log.rewind()
    fill(log, 1, first_timestamp=3_000)
    assert log.largest_timestamp == 3_000
    assert log.offset_for_timestamp(2_000) == (2, 3_000)


def test_rewind_that_fails_can_be_repeated() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    batches = fill(log, 2)
    put(log, make_batch(b"b" * 300))
    run_full(disk, log, 10)
    job = log.begin_rewind()
    assert job is not None
    with pytest.raises(InvariantError, match="never ran"):
        log.finish_rewind(job)
    assert log.needs_rewind
    disk.capacity_bytes = 1 << 30
    log.rewind()
    assert read_all(log) == b"".join(batches)


def test_crash_before_the_rewind_is_a_torn_tail() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    batches = fill(log, 2)
    put(log, make_batch(b"b" * 300))
    run_full(disk, log, 100)
    disk.crash()
    log = open_log(disk, CONFIG, recovery_point=2, sealed_offset=2)
    assert log.recovery_report.truncated_bytes == 100
    assert read_all(log) == b"".join(batches)


def test_truncation_removes_segments_snapshots_and_epochs_behind_it() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    batches = fill(log, 20)
    put(log, make_batch(b"late"), leader_epoch=3)
    log.flush()
    assert log.truncate(7) == 7
    assert (log.flushed_offset, log.log_end_offset, log.recovery_point) == (7, 7, 7)
    assert read_all(log) == b"".join(batches[:7])
    assert log.leader_epochs.starts == ((0, 0),)
    assert max(disk.list_directory(DIRECTORY)[:-1]) < f"{7:020d}"
    batches[7:] = fill(log, 5)
    disk.power_loss()
    log = open_log(disk, CONFIG, recovery_point=7, sealed_offset=12, tail_bytes=0)
    assert read_all(log) == b"".join(batches)


def test_truncation_at_a_segment_s_border_keeps_the_producers() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(20):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
        log.flush()
    border = log.describe_segments()[2].base_offset
    log.truncate(border)
    producer = log.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == border


def test_truncation_inside_a_batch_removes_that_batch() -> None:
    log = make_log(make_disk(), CONFIG)
    put(log, make_batch(b"a", b"b"))
    put(log, make_batch(b"c", b"d"))
    log.flush()
    assert log.border_before(3) == 2
    assert log.truncate(3) == 2


def test_truncation_behind_the_end_changes_nothing() -> None:
    log = make_log(make_disk(), CONFIG)
    fill(log, 3)
    assert log.truncate(3) == 3
    assert log.truncate(50) == 3


def test_truncation_below_the_high_watermark_is_a_bug() -> None:
    log = make_log(make_disk(), CONFIG)
    fill(log, 3)
    log.update_high_watermark(2)
    with pytest.raises(InvariantError, match="below 2"):
        log.truncate(1)


def test_truncation_that_would_leave_nothing_of_a_started_log_is_a_bug() -> None:
    log = make_log(make_disk(), CONFIG)
    put(log, make_batch(b"a", b"b"))
    log.flush()
    log.advance_log_start(1)
    with pytest.raises(InvariantError, match="leave nothing"):
        log.truncate(1)


def test_epoch_that_was_cut_off_and_came_again_is_remembered_at_its_new_place() -> None:
    disk = make_disk()
    log = make_log(disk)
    for epoch in (0, 0, 0, 0, 1):
        put(log, make_batch(b"v"), leader_epoch=epoch)
    log.flush()
    job = log.begin_checkpoint()
    assert job is not None
    job.run()
    log.finish_checkpoint(job)
    log.truncate(2)
    for _ in range(4):
        put(log, make_batch(b"v"), leader_epoch=1)
    log.flush()
    disk.crash()
    log = open_log(disk, recovery_point=6, sealed_offset=6)
    assert log.leader_epochs.starts == ((0, 0), (1, 2))
