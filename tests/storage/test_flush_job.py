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

from penstock.model.errors import FlushFailedError, InvariantError
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=0)


def operations(disk: MemoryFileSystem, start: int) -> list[str]:
    return [f"{name} {path.rpartition('/')[2]}" for name, path in list(disk.operations)[start:]]


def test_all_batches_of_a_segment_go_in_one_write_and_one_flush() -> None:
    disk = make_disk()
    log = make_log(disk)
    for _ in range(5):
        put(log, make_batch(b"value"))
    job = log.begin_flush()
    assert job is not None
    start = disk.operation_count
    job.write()
    assert operations(disk, start) == [f"write {0:020d}.log"]
    job.flush()
    assert operations(disk, start)[1:] == [f"flush {0:020d}.log"]
    assert job.size_bytes == log.size_bytes
    assert job.record_count == 5


def test_job_holds_what_was_there_when_it_began() -> None:
    log = make_log(make_disk())
    put(log, make_batch(b"one"))
    job = log.begin_flush()
    assert job is not None
    put(log, make_batch(b"two"))
    job.run()
    assert log.flushed_offset == 0
    log.finish_flush(job)
    assert log.flushed_offset == log.recovery_point == 1
    assert log.log_end_offset == 2
    assert log.is_dirty
    log.flush()
    assert log.flushed_offset == 2
    assert not log.is_dirty


def test_only_one_job_is_under_way_and_none_without_work() -> None:
    log = make_log(make_disk())
    assert log.begin_flush() is None
    put(log, make_batch(b"one"))
    job = log.begin_flush()
    assert job is not None
    put(log, make_batch(b"two"))
    assert log.begin_flush() is None
    job.run()
    log.finish_flush(job)
    with pytest.raises(InvariantError):
        log.finish_flush(job)


def test_roll_makes_the_old_segment_durable_before_the_next_one_exists() -> None:
    disk = make_disk()
    log = make_log(disk, SMALL)
    for _ in range(3):
        put(log, make_batch(b"x" * 200))
    job = log.begin_flush()
    assert job is not None
    start = disk.operation_count
    job.run()
    first, second, third = (f"{offset:020d}" for offset in range(3))
    done = operations(disk, start)

    for old, new in ((first, second), (second, third)):
        written = done.index(f"write {old}.log")
        flushed = done.index(f"flush {old}.log", written)
        created = done.index(f"create {new}.log")
        for derived in (f"flush {old}.index", f"flush {old}.timeindex", f"flush {new}.snapshot.tmp"):
            assert flushed < done.index(derived) < created
        named = done.index("sync_directory orders-0", done.index(f"flush {new}.log", created))
        assert named < done.index(f"write {new}.log")
    assert done[-1] == f"flush {third}.log"


def test_flush_without_durability_only_writes() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(flush_messages=3))
    put(log, make_batch(b"one", b"two"))
    job = log.begin_flush()
    assert job is not None
    assert not job.is_durable
    start = disk.operation_count
    job.run()
    assert operations(disk, start) == [f"write {0:020d}.log"]
    log.finish_flush(job)
    assert (log.recovery_point, log.flushed_offset) == (0, 2)


def test_flush_messages_reached_over_several_jobs_flushes() -> None:
    log = make_log(make_disk(), LogConfig(flush_messages=3))
    put(log, make_batch(b"one", b"two"))
    job = log.begin_flush()
    assert job is not None
    job.run()
    log.finish_flush(job)
    put(log, make_batch(b"three"))
    job = log.begin_flush()
    assert job is not None
    assert job.is_durable
    job.run()
    log.finish_flush(job)
    assert log.recovery_point == 3


def test_background_flush_makes_what_was_written_durable() -> None:
    log = make_log(make_disk(), LogConfig(flush_messages=100))
    put(log, make_batch(b"one"))
    job = log.begin_flush()
    assert job is not None
    job.run()
    log.finish_flush(job)
    assert log.begin_flush() is None
    job = log.begin_flush(durably=True)
    assert job is not None
    assert job.size_bytes == 0
    job.run()
    log.finish_flush(job)
    assert log.recovery_point == 1
    assert log.begin_flush(durably=True) is None


def test_roll_without_durability_still_flushes_the_old_segment() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(segment_bytes=400, flush_messages=100))
    for _ in range(3):
        put(log, make_batch(b"x" * 200))
    job = log.begin_flush()
    assert job is not None
    job.run()
    log.finish_flush(job)
    assert log.recovery_point == 2
    assert log.flushed_offset == 3
    disk.power_loss()
    assert open_log(disk, recovery_point=2, sealed_offset=2).log_end_offset >= 2


def test_preallocated_segment_is_trimmed_when_it_is_put_aside() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(segment_bytes=400, preallocate=True))
    fill(log, 2, size=200)
    assert disk.size(f"{DIRECTORY}/{0:020d}.log") < 400
    assert disk.size(f"{DIRECTORY}/{1:020d}.log") == 400
    log.close()
    assert disk.size(f"{DIRECTORY}/{1:020d}.log") < 400


def test_failed_flush_of_the_job_is_raised_and_leaves_the_log_refusing() -> None:
    disk = make_disk()
    log = make_log(disk)
    fill(log, 1)
    put(log, make_batch(b"lost"))
    disk.fail_flush(".log")
    with pytest.raises(FlushFailedError):
        log.flush()
    assert log.refusal == f"Could not flush {DIRECTORY}/{0:020d}.log: Input/output error"
    assert not log.needs_rewind
    assert log.begin_rewind() is None
    assert log.begin_flush() is None
    assert log.flushed_offset == log.log_end_offset == 1


def test_preallocated_segment_is_trimmed_though_the_topic_no_longer_preallocates() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(segment_bytes=400, preallocate=True))
    batches = fill(log, 2, size=200)
    assert disk.size(f"{DIRECTORY}/{1:020d}.log") == 400
    log.configure(LogConfig(segment_bytes=400))
    batches += fill(log, 1, size=200)
    assert disk.size(f"{DIRECTORY}/{1:020d}.log") == len(batches[1])
    disk.crash()
    log = open_log(disk, LogConfig(segment_bytes=400), sealed_offset=len(batches), tail_bytes=0)
    assert log.recovery_report.damage is None
    assert read_all(log) == b"".join(batches)
