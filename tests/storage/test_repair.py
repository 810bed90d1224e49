"""Damaged logs that are cut before the damage: what is kept, what is lost, and what an outage leaves."""

import contextlib
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
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
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.records.batch import read_header
from penstock.storage.log import Log, RepairJob
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import DirectoryOptions, LogDirectory
from penstock.storage.log_loading import LogSpec
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=0)
LENGTH = 20


def path_of(base_offset: int, suffix: str = ".log") -> str:
    return f"{DIRECTORY}/{base_offset:020d}{suffix}"


def written(disk: MemoryFileSystem) -> tuple[list[bytes], list[int]]:
    """A closed log of several segments; its batches, and where the segments begin."""
    log = make_log(disk, CONFIG, tail_bytes=0)
    batches = fill(log, LENGTH)
    bases = [facts.base_offset for facts in log.describe_segments()]
    assert len(bases) > 4
    log.close()
    return batches, [*bases]


def open_damaged(disk: MemoryFileSystem, *, log_start_offset: int = 0) -> Log:
    log = open_log(
        disk, CONFIG, recovery_point=0, sealed_offset=LENGTH, log_start_offset=log_start_offset, tail_bytes=0
    )
    assert log.is_offline
    return log


def check_repaired(disk: MemoryFileSystem, log: Log, expected: list[bytes]) -> None:
    """It has that, takes more, and is sound at the next start too, after an outage or without one."""
    assert not log.is_offline
    assert log.refusal is None
    assert read_all(log) == b"".join(expected)
    assert log.recovery_point == log.flushed_offset == log.log_end_offset
    end = log.log_end_offset
    more = fill(log, 3)
    assert read_all(log) == b"".join([*expected, *more])
    disk.power_loss()
    again = open_log(
        disk,
        CONFIG,
        recovery_point=end,
        sealed_offset=end + 3,
        log_start_offset=log.log_start_offset,
        tail_bytes=0,
    )
    assert not again.is_offline
    assert read_all(again) == b"".join([*expected, *more])
    assert not reopen_clean(disk, again, CONFIG).is_offline


def test_rotten_batch_is_cut_off_with_all_behind_it_and_kept_as_evidence() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), len(batches[0]) + 80)
    evidence = disk.read_file(path_of(bases[2]))
    log = open_damaged(disk)
    end = bases[2] + 1
    assert (log.log_end_offset, log.repair_offset) == (end, end)
    with pytest.raises(ApiError):
        put(log, make_batch(b"refused"))
    log.repair()
    assert disk.read_file(path_of(bases[2], ".log.damaged")) == evidence
    assert disk.exists(path_of(bases[2], ".repaired"))
    assert not disk.exists(path_of(bases[2], ".corrupt"))
    assert not disk.exists(path_of(bases[3]))
    check_repaired(disk, log, batches[:end])
    assert disk.read_file(path_of(bases[2], ".log.damaged")) == evidence


def test_log_with_a_missing_segment_is_cut_before_the_hole() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.unlink(path_of(bases[2]))
    log = open_damaged(disk)
    log.repair()
    assert not [name for name in disk.list_directory(DIRECTORY) if name.endswith(".damaged")]
    check_repaired(disk, log, batches[: bases[2]])


def test_log_that_is_too_short_is_what_it_is() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    for base in bases[3:]:
        disk.unlink(path_of(base))
    log = open_damaged(disk)
    log.repair()
    check_repaired(disk, log, batches[: bases[3]])


def test_log_whose_first_batch_is_rotten_is_empty_afterwards() -> None:
    disk = make_disk()
    written(disk)
    disk.flip_bit(path_of(0), 70)
    log = open_damaged(disk)
    log.repair()
    check_repaired(disk, log, [])


def test_rot_that_opening_did_not_meet_is_found_when_it_is_looked_for_and_repaired_alike() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), len(batches[0]) + 80)
    log = open_log(disk, CONFIG, recovery_point=LENGTH, sealed_offset=LENGTH, tail_bytes=0)
    log.look_for_damage(bases[3])
    assert log.refusal is None, "it lies before what was asked for"
    log.look_for_damage(bases[1])
    end = bases[2] + 1
    assert log.is_offline
    assert log.repair_offset == end
    with pytest.raises(ApiError):
        put(log, make_batch(b"refused"))
    log.repair()
    assert disk.exists(path_of(bases[2], ".log.damaged"))
    check_repaired(disk, log, batches[:end])


def test_looking_for_damage_finds_what_is_before_the_damage_that_is_known_and_nothing_behind() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[3]), 80)
    log = open_damaged(disk)
    log.look_for_damage(0)
    assert log.repair_offset == bases[3]
    disk.flip_bit(path_of(bases[1]), 80)
    log.look_for_damage(bases[2])
    assert log.repair_offset == bases[3]
    log.look_for_damage(0)
    assert log.repair_offset == bases[1]
    log.repair()
    check_repaired(disk, log, batches[: bases[1]])


def test_damage_that_an_earlier_start_reported_is_cut_off_though_this_one_did_not_meet_it() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[1]), 80)
    evidence = disk.read_file(path_of(bases[1]))
    open_damaged(disk)
    disk.crash()
    log = open_log(disk, CONFIG, recovery_point=LENGTH, sealed_offset=LENGTH, tail_bytes=0)
    assert log.is_offline
    assert log.log_end_offset == LENGTH
    assert log.repair_offset == bases[1]
    log.repair()
    assert disk.read_file(path_of(bases[1], ".log.damaged")) == evidence
    check_repaired(disk, log, batches[: bases[1]])


def test_first_of_several_damages_decides() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[3]), 80)
    open_damaged(disk)
    disk.crash()
    disk.flip_bit(path_of(bases[1]), 80)
    log = open_damaged(disk)
    assert log.repair_offset == bases[1]
    log.repair()
    names = disk.list_directory(DIRECTORY)
    assert [name[:20] for name in names if name.endswith(".damaged")] == [
        f"{bases[1]:020d}",
        f"{bases[3]:020d}",
    ]
    check_repaired(disk, log, batches[: bases[1]])


def test_report_that_cannot_be_read_costs_the_whole_log() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    file = disk.open(path_of(bases[2], ".corrupt"), create=True)
    file.write(0, [b"rubbish"])
    file.flush()
    start = bases[1] + 1
    log = open_damaged(disk, log_start_offset=start)
    assert read_all(log) == b"".join(batches[start:])
    assert log.repair_offset == start
    log.repair()
    assert (log.log_start_offset, log.log_end_offset) == (start, start)
    check_repaired(disk, log, [])


def test_committed_records_behind_the_damage_are_given_up() -> None:
    disk = make_disk()
    _, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), 80)
    log = open_damaged(disk)
    log.update_high_watermark(LENGTH)
    log.repair()
    assert log.high_watermark == bases[2]


def test_producers_and_epochs_are_what_the_repair_left() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(LENGTH):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)), leader_epoch=number // 4)
        log.flush()
    bases = [facts.base_offset for facts in log.describe_segments()]
    log.close()
    disk.flip_bit(path_of(bases[2]), 80)
    log = open_damaged(disk)
    log.repair()
    producer = log.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == bases[2]
    assert max(start.start_offset for start in log.leader_epochs.starts) < bases[2]


def test_sound_log_needs_no_repair() -> None:
    log = make_log(make_disk(), CONFIG)
    fill(log, 3)
    assert log.begin_repair() is None
    assert log.repair_offset == 3
    log.repair()
    assert log.log_end_offset == 3


def test_repair_is_begun_once_and_ends_with_its_own_job() -> None:
    disk = make_disk()
    _, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), 80)
    log = open_damaged(disk)
    job = log.begin_repair()
    assert job is not None
    with pytest.raises(InvariantError, match="already"):
        log.begin_repair()
    with pytest.raises(InvariantError, match="never ran"):
        log.finish_repair(job)
    assert log.is_offline
    assert log.begin_flush(durably=True) is None
    job.run()
    log.finish_repair(job)
    with pytest.raises(InvariantError, match="ended already"):
        log.finish_repair(job)


def test_nothing_is_touched_when_there_is_no_room_for_the_evidence() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), 80)
    evidence = disk.read_file(path_of(bases[2]))
    log = open_damaged(disk)
    names = disk.list_directory(DIRECTORY)
    job = log.begin_repair()
    assert job is not None
    disk.capacity_bytes = disk.used_bytes + 100
    with pytest.raises(DiskFullError):
        job.run()
    assert disk.list_directory(DIRECTORY) == names
    assert disk.read_file(path_of(bases[2])) == evidence
    disk.capacity_bytes = 1 << 30
    job.run()
    log.finish_repair(job)
    check_repaired(disk, log, batches[: bases[2]])


def test_damage_is_reported_before_it_is_repaired_though_there_was_no_room_at_first() -> None:
    disk = make_disk()
    batches, bases = written(disk)
    disk.flip_bit(path_of(bases[2]), 80)
    disk.capacity_bytes = disk.used_bytes
    log = open_damaged(disk)
    assert log.recovery_report.report_is_missing
    disk.capacity_bytes = 1 << 30
    seen: list[list[str]] = []
    job = log.begin_repair(lambda: seen.append(disk.list_directory(DIRECTORY)))
    assert job is not None
    job.run()
    log.finish_repair(job)
    assert [name for name in seen[0] if name.endswith(".corrupt")]
    check_repaired(disk, log, batches[: bases[2]])


class Story:
    """A data directory with a damaged log, repaired as a broker does it."""

    SPEC = LogSpec(partition=TopicPartition("orders", 0), topic_id=TopicId(bytes(15) + b"\1"), config=CONFIG)
    OPTIONS = DirectoryOptions(node_id=NodeId(1), cluster_id="c", new_uuid=lambda: bytes(16), reserve_bytes=0)

    def __init__(self, seed: int, *, segment: int) -> None:
        self.disk = MemoryFileSystem(Random(seed))
        directory, log = self.open()
        self.batches = fill(log, LENGTH)
        bases = [facts.base_offset for facts in log.describe_segments()]
        log.close()
        directory.close(Millis(0))
        self.base = bases[segment]
        self.path = f"{log.directory}/{self.base:020d}.log"
        self.disk.flip_bit(self.path, len(self.batches[0]) + 80)
        self.evidence = self.disk.read_file(self.path)
        # A clean stop looks at the last batch only; this one has to look at all.
        self.disk.unlink("/data/.kafka_cleanshutdown")
        self.disk.unlink("/data/recovery-point-offset-checkpoint")
        self.disk.sync_directory("/data")

    def open(self) -> tuple[LogDirectory, Log]:
        directory = LogDirectory.open(self.disk, "/data", self.OPTIONS, now=Millis(0))
        load = directory.begin_create([self.SPEC], tail_cache=None, now=Millis(0))
        load.run()
        return directory, directory.finish_load(load)[0]

    def repair(self, directory: LogDirectory, log: Log, *, lowers_first: bool) -> None:
        lower = directory.begin_lower(log, Offset(log.repair_offset))
        if lowers_first:
            lower.run()
        job = log.begin_repair(None if lowers_first else lower.run)
        assert isinstance(job, RepairJob)
        job.run()
        log.finish_repair(job)
        directory.finish_lower(lower)
        directory.record_flushed(log, 0)
        directory.seal.flush()
        directory.begin_checkpoint(Millis(0)).run()


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("segment", [0, 2, -1])
@pytest.mark.parametrize("lowers_first", [False, True])
def test_interrupted_repair_is_done_again_and_the_evidence_stays(
    ending: str, segment: int, lowers_first: bool
) -> None:
    stop, outcomes = 0, set()
    while True:
        story = Story(stop, segment=segment)
        directory, log = story.open()
        assert log.is_offline
        disk = story.disk
        disk.stop_before(disk.operation_count + stop)
        was_stopped = True
        with contextlib.suppress(MachineStopped):
            story.repair(directory, log, lowers_first=lowers_first)
            was_stopped = False
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        directory, log = story.open()
        outcomes.add(log.is_offline)
        if log.is_offline:
            assert was_stopped
            story.repair(directory, log, lowers_first=lowers_first)
        assert disk.read_file(story.path + ".damaged") == story.evidence, f"stopped before operation {stop}"
        expected = b"".join(story.batches[: story.base + 1])
        assert read_all(log) == expected, f"stopped before operation {stop}"
        log.close()
        directory.close(Millis(0))
        directory, log = story.open()
        assert not log.is_offline
        assert read_all(log) == expected
        if not was_stopped:
            break
        stop += 1
    assert outcomes == {False, True}


@settings(deadline=None, max_examples=200)
@given(
    kind=st.sampled_from(["flip", "cut", "delete"]),
    number=st.integers(0, 6),
    part=st.floats(0, 1, exclude_max=True),
    recovery_point=st.sampled_from([0, 7, LENGTH]),
)
def test_any_damage_can_be_repaired_and_what_is_left_is_a_beginning(
    kind: str, number: int, part: float, recovery_point: int
) -> None:
    disk = make_disk()
    batches, bases = written(disk)
    path = path_of(bases[number % len(bases)])
    position = int(part * disk.size(path))
    if kind == "delete":
        disk.unlink(path)
    elif kind == "cut":
        disk.open(path).truncate(position)
    else:
        # A leader epoch is outside the checksum, and a wrong one is not seen if it does not go back.
        assume(disk.size(path) and not 12 <= position % len(batches[0]) < 16)
        disk.flip_bit(path, position)
    log = open_log(disk, CONFIG, recovery_point=recovery_point, sealed_offset=LENGTH, tail_bytes=0)
    if not log.is_offline:
        return
    log.repair()
    end = log.log_end_offset
    put(log, make_batch(b"after"), leader_epoch=9)
    log.flush()
    disk.power_loss()
    again = open_log(
        disk, CONFIG, recovery_point=end, sealed_offset=end + 1, log_start_offset=log.log_start_offset
    )
    assert not again.is_offline
    content = read_all(again)
    kept = [batch for batch in batches if log.log_start_offset <= read_header(batch).base_offset < end]
    assert content.startswith(b"".join(kept))
    assert again.log_end_offset == end + 1
