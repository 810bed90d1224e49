"""Cutting a log in three steps: what others may do between them, and a machine that stops at each."""

import contextlib

import pytest
from tests.storage.compaction_testing import compacted_config, keyed_batch
from tests.storage.log_testing import (
    DIRECTORY,
    fill,
    make_batch,
    make_disk,
    make_log,
    open_log,
    put,
    read_all,
    reopen_clean,
)

from penstock.model.errors import ApiError, DiskFullError, InvariantError
from penstock.records.batch import read_header
from penstock.storage.log import Log, RewindJob
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=0)
LENGTH = 20
CUT = 7


def begin(log: Log, offset: int) -> RewindJob:
    job = log.begin_truncate(offset)
    assert job is not None
    return job


def filled(disk: MemoryFileSystem, *, tail_bytes: int = 0) -> tuple[Log, list[bytes]]:
    log = make_log(disk, CONFIG, tail_bytes=tail_bytes)
    return log, fill(log, LENGTH)


def append(log: Log, count: int, *, leader_epoch: int) -> list[bytes]:
    batches = [make_batch(b"n" * 100) for _ in range(count)]
    for batch in batches:
        put(log, batch, leader_epoch=leader_epoch)
    return [bytes(batch) for batch in batches]


@pytest.mark.parametrize("tail_bytes", [0, 1 << 20])
def test_begun_cut_is_seen_by_readers_at_once(tail_bytes: int) -> None:
    log, batches = filled(make_disk(), tail_bytes=tail_bytes)
    job = begin(log, CUT)
    assert (log.log_end_offset, log.flushed_offset, log.recovery_point) == (CUT, CUT, CUT)
    assert read_all(log) == b"".join(batches[:CUT])
    job.run()
    assert read_all(log) == b"".join(batches[:CUT])
    log.finish_truncate(job)
    assert read_all(log) == b"".join(batches[:CUT])


def test_nothing_is_flushed_checkpointed_expired_or_closed_while_the_log_is_cut() -> None:
    log, _ = filled(make_disk())
    job = begin(log, CUT)
    append(log, 1, leader_epoch=1)
    assert log.busy_with == "another cut"
    assert log.begin_flush(durably=True) is None
    assert log.begin_checkpoint() is None
    assert log.begin_rewind() is None
    assert log.expire(now=2**60, high_watermark=CUT) is None
    with pytest.raises(InvariantError, match="closed while it is being cut"):
        log.begin_close()
    job.run()
    log.finish_truncate(job)
    assert log.begin_flush() is not None


def test_log_whose_cut_was_given_up_takes_nothing_and_is_closed_as_it_is() -> None:
    disk = make_disk()
    log, batches = filled(disk)
    before = disk.read_file(f"{DIRECTORY}/00000000000000000000.log")
    begin(log, CUT)
    append(log, 1, leader_epoch=1)
    log.give_up_cut()
    with pytest.raises(ApiError, match="its cut was given up"):
        append(log, 1, leader_epoch=1)
    assert log.begin_flush(durably=True) is None
    log.close()
    assert disk.read_file(f"{DIRECTORY}/00000000000000000000.log") == before
    again = open_log(disk, CONFIG, recovery_point=0, tail_bytes=0)
    assert read_all(again) == b"".join(batches)
    again.give_up_cut()
    assert not again.cut_is_given_up
    assert again.refusal is None


def test_compaction_waits_for_a_cut() -> None:
    log = make_log(make_disk(), compacted_config(), tail_bytes=0)
    for number in range(30):
        put(log, keyed_batch((b"k", b"%d" % number)))
        log.flush()
    job = begin(log, 25)
    part = log.cleanable_part(5_000, 25)
    assert part.dirty_bytes > 0
    assert not log.is_due_for_compaction(part)
    with pytest.raises(InvariantError, match="while it is being cut"):
        log.begin_compaction(part, now=5_000, map_bytes=1 << 20)
    job.run()
    log.finish_truncate(job)
    assert log.is_due_for_compaction(log.cleanable_part(5_000, 25))


def test_batches_appended_while_the_log_is_cut_are_kept_and_flushed_afterwards() -> None:
    disk = make_disk()
    log, batches = filled(disk)
    job = begin(log, CUT)
    new = append(log, 4, leader_epoch=3)
    job.run()
    new += append(log, 8, leader_epoch=3)
    log.finish_truncate(job)
    assert (log.flushed_offset, log.log_end_offset) == (CUT, CUT + 12)
    assert log.is_dirty
    log.flush()
    expected = b"".join([*batches[:CUT], *new])
    assert read_all(log) == expected
    assert log.leader_epochs.starts == ((0, 0), (3, CUT))
    disk.power_loss()
    again = open_log(disk, CONFIG, recovery_point=CUT, sealed_offset=CUT + 12, tail_bytes=0)
    assert not again.is_offline
    assert read_all(again) == expected
    assert again.leader_epochs.starts == ((0, 0), (3, CUT))


def test_segment_put_aside_while_the_log_is_cut_has_no_snapshot_of_producers_that_are_gone() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    for number in range(12):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
        log.flush()
    job = begin(log, 4)
    append(log, 10, leader_epoch=0)
    job.run()
    log.finish_truncate(job)
    log.flush()
    assert len(log.describe_segments()) > 2
    disk.crash()
    again = open_log(disk, CONFIG, recovery_point=14, sealed_offset=14)
    producer = again.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == 4
    assert not put(again, make_batch(b"x", producer=(7, 0, 4))).is_duplicate


def test_producers_batch_is_refused_while_nobody_knows_the_producers() -> None:
    log, _ = filled(make_disk())
    job = begin(log, CUT)
    batch = make_batch(b"x", producer=(7, 0, 0))
    with pytest.raises(InvariantError, match="a producer's batch while it is being cut"):
        put(log, batch)
    follower = make_batch(b"x", producer=(7, 0, 0))
    with pytest.raises(InvariantError, match="a producer's batch while it is being cut"):
        log.append_as_follower(follower, read_header(follower)._replace(base_offset=CUT))
    assert log.log_end_offset == CUT
    job.run()
    log.finish_truncate(job)
    assert put(log, batch).base_offset == CUT


def test_producers_are_what_the_cut_left() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    for number in range(12):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
        log.flush()
    log.truncate(5)
    producer = log.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == 5
    assert not put(log, make_batch(b"x", producer=(7, 0, 5))).is_duplicate
    log.flush()
    again = reopen_clean(disk, log)
    found = again.producers.get(7)
    assert found is not None
    assert found.next_sequence == 6


def test_cut_that_changes_nothing_needs_no_job() -> None:
    log, batches = filled(make_disk())
    assert log.begin_truncate(LENGTH) is None
    assert not log.is_busy
    assert read_all(log) == b"".join(batches)


def test_cut_waits_for_each_job_that_is_under_way() -> None:
    log, _ = filled(make_disk())
    checkpoint = log.begin_checkpoint()
    assert checkpoint is not None
    assert log.busy_with == "a checkpoint"
    with pytest.raises(InvariantError, match="there is a checkpoint"):
        log.begin_truncate(CUT)
    checkpoint.run()
    log.finish_checkpoint(checkpoint)
    append(log, 1, leader_epoch=0)
    assert log.busy_with == "batches that wait for a flush"
    with pytest.raises(InvariantError, match="wait for a flush"):
        log.begin_truncate(CUT)
    flush = log.begin_flush()
    assert flush is not None
    assert log.busy_with == "a flush"
    with pytest.raises(InvariantError, match="there is a flush"):
        log.begin_truncate(CUT)
    flush.run()
    log.finish_flush(flush)
    compaction = log.begin_compaction(log.cleanable_part(1, 5), now=1, map_bytes=1 << 20)
    assert log.busy_with == "a compaction"
    with pytest.raises(InvariantError, match="there is a compaction"):
        log.begin_truncate(CUT)
    log.abandon_compaction(compaction)
    assert not log.is_busy
    assert log.truncate(CUT) == CUT


def test_another_logs_job_does_not_end_a_cut() -> None:
    log, _ = filled(make_disk())
    other, _ = filled(make_disk())
    job, foreign = begin(log, CUT), begin(other, CUT)
    foreign.run()
    with pytest.raises(InvariantError, match="did not begin this cut"):
        log.finish_truncate(foreign)
    with pytest.raises(InvariantError, match="never ran"):
        log.finish_truncate(job)
    job.run()
    log.finish_truncate(job)
    with pytest.raises(InvariantError, match="has ended already"):
        log.finish_truncate(job)


def test_job_that_failed_can_be_repeated() -> None:
    disk = make_disk()
    log, batches = filled(disk)
    job = begin(log, CUT)
    job.run()
    job.run()
    log.finish_truncate(job)
    assert read_all(log) == b"".join(batches[:CUT])


def test_committed_records_are_cut_only_once_the_mark_was_lowered() -> None:
    log, batches = filled(make_disk())
    log.update_high_watermark(10)
    with pytest.raises(InvariantError, match="below 10"):
        log.begin_truncate(CUT)
    log.lower_high_watermark(CUT)
    assert log.high_watermark == CUT
    assert log.truncate(CUT) == CUT
    assert read_all(log) == b"".join(batches[:CUT])
    log.lower_high_watermark(CUT + 5)
    assert log.high_watermark == CUT


def test_written_but_unflushed_records_below_the_cut_are_durable_after_it() -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig(flush_messages=1_000), tail_bytes=0)
    batches = append(log, 6, leader_epoch=0)
    flush = log.begin_flush()
    assert flush is not None
    flush.run()
    log.finish_flush(flush)
    assert (log.recovery_point, log.flushed_offset) == (0, 6)
    job = begin(log, 4)
    assert log.recovery_point == 0
    job.run()
    log.finish_truncate(job)
    assert log.recovery_point == 4
    disk.power_loss()
    again = open_log(disk, recovery_point=0, sealed_offset=4, tail_bytes=0)
    assert not again.is_offline
    assert read_all(again) == b"".join(batches[:4])


def test_full_disk_does_not_keep_a_log_from_being_cut() -> None:
    disk = make_disk()
    log, batches = filled(disk)
    disk.capacity_bytes = disk.used_bytes
    log.truncate(CUT)
    assert read_all(log) == b"".join(batches[:CUT])
    put(log, make_batch(b"x" * 10_000))
    with pytest.raises(DiskFullError):
        log.flush()


def cut_until(disk: MemoryFileSystem, log: Log, stop: int, new: list[bytes]) -> bool:
    """Cut, append in between, and flush; whether the machine stopped on the way."""
    disk.stop_before(disk.operation_count + stop)
    with contextlib.suppress(MachineStopped):
        job = begin(log, CUT)
        new += append(log, 3, leader_epoch=2)
        job.run()
        log.finish_truncate(job)
        log.flush()
        return False
    return True


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_interrupted_cut_leaves_the_old_log_up_to_some_batch_or_the_new_one(ending: str, seed: int) -> None:
    stop = 0
    while True:
        disk = make_disk(seed)
        log, batches = filled(disk)
        new: list[bytes] = []
        was_stopped = cut_until(disk, log, stop, new)
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        log = open_log(disk, CONFIG, recovery_point=CUT, sealed_offset=CUT, tail_bytes=0)
        assert not log.is_offline, f"stopped before operation {stop}: {log.refusal}"
        found = read_all(log)
        olds = [b"".join(batches[:length]) for length in range(CUT, LENGTH + 1)]
        news = [b"".join([*batches[:CUT], *new[:length]]) for length in range(4)]
        assert found in (olds if was_stopped else []) + news, f"stopped before operation {stop}"
        leftovers = [name for name in disk.list_directory(DIRECTORY) if name.endswith(".deleted")]
        assert not leftovers
        if not was_stopped:
            assert found == news[3]
            assert log.leader_epochs.starts == ((0, 0), (2, CUT))
            break
        stop += 1
    assert stop > 15
