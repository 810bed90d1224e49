"""Logs that begin anew: in memory, on the disk, and on a machine that stops in front of every operation."""

import contextlib
from collections.abc import Callable
from random import Random

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

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.log_loading import LogSpec
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=0)
NOW = Millis(1_700_000_000_000)
SPEC = LogSpec(partition=TopicPartition("orders", 0), topic_id=TopicId(bytes(15) + b"\1"), config=CONFIG)
OPTIONS = DirectoryOptions(node_id=NodeId(1), cluster_id="c", new_uuid=lambda: bytes(16), reserve_bytes=0)


def filled(disk: MemoryFileSystem, count: int = 20) -> tuple[Log, list[bytes]]:
    log = make_log(disk, CONFIG, tail_bytes=0)
    return log, fill(log, count)


@pytest.mark.parametrize("offset", [0, 4, 7, 20, 1_000])
def test_restarted_log_is_empty_and_goes_on_at_its_offset(offset: int) -> None:
    disk = make_disk()
    log, _ = filled(disk)
    log.restart(offset)
    assert (log.log_start_offset, log.flushed_offset, log.log_end_offset) == (offset, offset, offset)
    assert (log.recovery_point, log.size_bytes, log.leader_epochs.starts) == (offset, 0, ())
    assert disk.list_directory(DIRECTORY) == [f"{offset:020d}.log"]
    assert put(log, make_batch(b"x"), leader_epoch=5).base_offset == offset
    log.flush()
    content = read_all(log)
    again = reopen_clean(disk, log, CONFIG)
    assert read_all(again) == content
    assert (again.log_start_offset, again.log_end_offset) == (offset, offset + 1)
    assert again.leader_epochs.starts == ((5, offset),)


def test_nothing_of_the_old_log_is_read_once_the_restart_has_begun() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 20)
    job = log.begin_restart(50)
    with pytest.raises(ApiError) as caught:
        log.read(3, max_bytes=100, end_offset=20)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(50, max_bytes=100, end_offset=50).size == 0
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None
    assert log.aborted_transactions(50, 60) == []
    assert [facts.size_bytes for facts in log.describe_segments()] == [0]
    assert log.cleanable_part(5_000, 50).dirty_bytes == 0
    assert log.expire(2**60, 50) is None
    assert log.begin_flush(durably=True) is None
    job.run()
    log.finish_restart(job)
    assert not log.is_busy


def test_producers_of_the_old_log_are_forgotten_and_new_ones_may_write_at_once() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(10):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
        log.flush()
    job = log.begin_restart(100)
    assert log.producers.get(7) is None
    batches = [make_batch(b"y" * 100, producer=(7, 0, number)) for number in range(10)]
    for batch in batches:
        assert not put(log, batch).is_duplicate
    job.run()
    log.finish_restart(job)
    assert log.flushed_offset == 100
    log.flush()
    assert read_all(log) == b"".join(batches)
    disk.power_loss()
    again = open_log(disk, CONFIG, recovery_point=100, sealed_offset=110)
    assert not again.is_offline
    assert read_all(again) == b"".join(batches)
    producer = again.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == 10


def test_files_that_are_not_of_the_log_stay() -> None:
    disk = make_disk()
    log, _ = filled(disk)
    strangers = ["00000000000000000007-0000000001.checkpoint", "partition.metadata", "quorum-state.a"]
    for name in strangers:
        disk.open(f"{DIRECTORY}/{name}", create=True).close()
    log.restart(30)
    assert disk.list_directory(DIRECTORY) == [strangers[0], f"{30:020d}.log", *strangers[1:]]


def test_old_readers_can_finish_until_the_restart_has_ended() -> None:
    log, batches = filled(make_disk())
    found = log.read(0, max_bytes=100_000, end_offset=20)
    job = log.begin_restart(50)
    job.run()
    assert b"".join(batches).startswith(found.read_bytes())


def test_gaps_of_the_old_log_are_forgotten() -> None:
    disk = make_disk()
    log = make_log(disk, compacted_config(), tail_bytes=0)
    for number in range(30):
        put(log, keyed_batch((b"k", b"%d" % number)))
        log.flush()
    log.compact(now=5_000, stable_offset=30, map_bytes=1 << 20)
    assert log.cleaned_offset > 20
    log.restart(10)
    assert log.cleaned_offset == 10
    assert disk.list_directory(DIRECTORY) == [f"{10:020d}.log"]
    for number in range(30):
        put(log, keyed_batch((b"k", b"%d" % number)))
        log.flush()
    log.compact(now=5_000, stable_offset=40, map_bytes=1 << 20)
    content = read_all(log)
    again = open_log(disk, compacted_config(), sealed_offset=40, tail_bytes=0)
    assert not again.is_offline
    assert read_all(again) == content


def test_preallocated_segment_of_a_restarted_log_holds_nothing() -> None:
    disk = make_disk()
    config = LogConfig(segment_bytes=4_000, preallocate=True)
    log = make_log(disk, config, tail_bytes=0)
    fill(log, 3)
    log.restart(9)
    assert disk.size(f"{DIRECTORY}/{9:020d}.log") == 4_000
    batches = fill(log, 2)
    disk.crash()
    again = open_log(disk, config, recovery_point=9, sealed_offset=11, tail_bytes=0)
    assert read_all(again) == b"".join(batches)


def test_restart_below_the_high_watermark_is_a_bug() -> None:
    log, _ = filled(make_disk())
    log.update_high_watermark(10)
    with pytest.raises(InvariantError, match="below 10"):
        log.begin_restart(5)
    log.restart(10)


def test_restart_waits_for_other_jobs_and_ends_only_with_its_own() -> None:
    log, _ = filled(make_disk())
    put(log, make_batch(b"x"))
    with pytest.raises(InvariantError, match="wait for a flush"):
        log.begin_restart(30)
    log.flush()
    job = log.begin_restart(30)
    with pytest.raises(InvariantError, match="another cut"):
        log.begin_restart(40)
    with pytest.raises(InvariantError, match="before it was made"):
        log.finish_restart(job)
    job.run()
    log.finish_restart(job)
    with pytest.raises(InvariantError, match="ended already"):
        log.finish_restart(job)


def test_restart_job_can_be_repeated() -> None:
    disk = make_disk()
    log, _ = filled(disk)
    job = log.begin_restart(7)
    job.run()
    job.run()
    log.finish_restart(job)
    batches = fill(log, 3)
    assert read_all(log) == b"".join(batches)
    assert disk.list_directory(DIRECTORY)[0] == f"{7:020d}.log"


class Story:
    """A data directory whose log begins anew; every stop tells another."""

    def __init__(self, seed: int, offset: int, *, checkpoints: bool) -> None:
        self.disk = MemoryFileSystem(Random(seed))
        self.offset = offset
        self.checkpoints = checkpoints
        self.directory, self.log = self.open()
        self.batches = fill(self.log, 20)
        self.directory.record_flushed(self.log, 0)
        self.log.advance_log_start(3)
        self.directory.seal.flush()
        self.directory.begin_checkpoint(NOW).run()
        self.content = read_all(self.log)

    def open(self) -> tuple[LogDirectory, Log]:
        directory = LogDirectory.open(self.disk, "/data", OPTIONS, now=NOW)
        load = directory.begin_create([SPEC], tail_cache=None, now=NOW)
        load.run()
        return directory, directory.finish_load(load)[0]

    def restart(self) -> None:
        lower = self.directory.begin_lower(self.log, Offset(self.offset))
        lower.run()
        job = self.log.begin_restart(self.offset)
        if self.checkpoints:
            self.directory.record_flushed(self.log, 0)
            self.directory.seal.flush()
            self.directory.begin_checkpoint(NOW).run()
        job.run()
        self.log.finish_restart(job)
        self.directory.finish_lower(lower)
        self.directory.record_flushed(self.log, 0)
        self.directory.seal.flush()
        self.directory.begin_checkpoint(NOW).run()

    def stopped(self, stop: int, action: Callable[[], object]) -> bool:
        self.disk.stop_before(self.disk.operation_count + stop)
        with contextlib.suppress(MachineStopped):
            action()
            return False
        return True

    def end(self, ending: str) -> None:
        if ending == "power":
            self.disk.power_loss()
        else:
            self.disk.crash()

    def check(self, where: str) -> bool:
        """Whether the log has begun anew; it must be there, old or new, and take appends."""
        directory, log = self.open()
        assert not log.is_offline, f"{where}: {log.refusal}"
        is_new = log.log_end_offset == self.offset and log.size_bytes == 0
        if not is_new:
            assert log.log_end_offset == 20, where
            assert self.content in read_all(log), where
        assert not [name for name in self.disk.list_directory(log.directory) if name.endswith(".restart")]
        put(log, make_batch(b"after"), leader_epoch=1)
        log.close()
        directory.close(NOW)
        return is_new


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("offset", [1, 3, 11, 20, 500])
@pytest.mark.parametrize("checkpoints", [False, True])
def test_interrupted_restart_leaves_the_old_log_or_an_empty_one(
    ending: str, offset: int, checkpoints: bool
) -> None:
    stop, outcomes = 0, set()
    while True:
        story = Story(stop, offset, checkpoints=checkpoints)
        was_stopped = story.stopped(stop, story.restart)
        story.end(ending)
        is_new = story.check(f"stopped before operation {stop}")
        outcomes.add(is_new)
        if not was_stopped:
            assert is_new
            break
        stop += 1
    assert outcomes == {False, True}
    assert stop > 20


@pytest.mark.parametrize("ending", ["killed", "power"])
def test_start_that_finishes_a_restart_may_itself_be_interrupted(ending: str) -> None:
    story = Story(0, 11, checkpoints=False)
    lower = story.directory.begin_lower(story.log, Offset(11))
    lower.run()
    first = story.disk.operation_count
    job = story.log.begin_restart(11)
    job.run()
    length = story.disk.operation_count - first
    for stop in range(2, length):
        for again in range(60):
            story = Story(stop * 100 + again, 11, checkpoints=False)
            story.directory.begin_lower(story.log, Offset(11)).run()
            assert story.stopped(stop, story.log.begin_restart(11).run)
            story.end("killed")
            was_stopped = story.stopped(again, story.open)
            story.end(ending)
            story.check(f"stopped before operation {stop}, then {again}")
            if not was_stopped:
                break
        else:
            raise AssertionError("the start has more operations than were tried")


def test_begun_anew_above_its_old_end_nothing_is_remembered_that_the_old_log_lacks() -> None:
    """A checkpoint of all logs may be written at any time, also while one of them begins anew."""
    story = Story(1, 500, checkpoints=False)
    lower = story.directory.begin_lower(story.log, Offset(500))
    lower.run()
    story.log.begin_restart(500)
    story.directory.record_flushed(story.log, 0)
    story.directory.seal.flush()
    story.directory.begin_checkpoint(NOW).run()
    story.disk.power_loss()
    assert not story.check("before the files")
