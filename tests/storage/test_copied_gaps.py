"""Replicas that copy a compacted log: its gaps are no damage, whatever the topic's policy is by then."""

from collections.abc import Iterator

import pytest
from tests.storage.compaction_testing import append, compact, compacted_config, keyed_batch, offsets_in, roll
from tests.storage.log_testing import DIRECTORY, make_disk, make_log, open_log, put, read_all

from penstock.model.errors import StorageError
from penstock.records.batch import BatchHeader, read_header, split_batches, stamp
from penstock.storage.compacted_offset import UNKNOWN_GAPS, read_gaps
from penstock.storage.log import FlushJob, Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

COMPACTED = compacted_config(segment_bytes=260)
DELETED = LogConfig(segment_bytes=260)
CopiedBatch = tuple[memoryview, BatchHeader]


def make_leader() -> Log:
    """A compacted log of several segments: every fifth offset is left, and the last ones of segments."""
    log = make_log(make_disk(), COMPACTED, tail_bytes=0)
    for number in range(30):
        append(log, keyed_batch((b"k" if number % 5 else b"u%d" % number, b"%d" % number)))
    roll(log)
    compact(log)
    return log


def batches_of(log: Log, *, behind: int = 0) -> list[CopiedBatch]:
    content = bytearray(read_all(log))
    return [
        (memoryview(content)[position : position + header.size_bytes], header)
        for position, header in split_batches(content)
        if header.base_offset >= behind
    ]


def copy(leader: Log, follower: Log) -> None:
    """Some batches a flush."""
    batches = batches_of(leader, behind=follower.log_end_offset)
    for start in range(0, len(batches), 3):
        follower.append_copied(batches[start : start + 3])
        follower.flush()


def allowed_below(disk: MemoryFileSystem) -> int:
    return read_gaps(disk, DIRECTORY, is_compacted=False).below


@pytest.mark.parametrize("copied_as", [DELETED, COMPACTED])
@pytest.mark.parametrize("clean", [True, False])
def test_copy_of_a_compacted_log_is_good_when_the_topic_no_longer_is_compacted(
    copied_as: LogConfig, clean: bool
) -> None:
    leader = make_leader()
    expected = read_all(leader)
    assert len(offsets_in(leader)) < leader.log_end_offset
    disk = make_disk()
    follower = make_log(disk, copied_as, tail_bytes=0)
    copy(leader, follower)
    follower.configure(DELETED)
    assert read_all(follower) == expected
    if clean:
        follower.close()
    else:
        disk.power_loss()
    end = leader.log_end_offset
    log = open_log(
        disk, DELETED, recovery_point=end if clean else 0, clean=clean, sealed_offset=end, tail_bytes=0
    )
    assert log.recovery_report.damage is None
    assert read_all(log) == expected


def test_gap_above_what_was_copied_is_damage() -> None:
    leader = make_leader()
    disk = make_disk()
    follower = make_log(disk, LogConfig(), tail_bytes=0)
    copy(leader, follower)
    batches = [keyed_batch((b"k", b"%d" % number)) for number in range(2)]
    for batch in batches:
        put(follower, batch)
    follower.flush()
    good = follower.size_bytes - sum(map(len, batches))
    follower.close()
    path = f"{DIRECTORY}/{0:020d}.log"
    file = disk.open(path)
    # The first of them disappears without a trace.
    file.write(good, [bytes(batches[1])])
    file.truncate(good + len(batches[1]))
    log = open_log(disk, LogConfig(), sealed_offset=follower.log_end_offset, tail_bytes=0)
    assert log.recovery_report.damage is not None
    assert log.log_end_offset == leader.log_end_offset


def test_copying_on_after_a_start_that_knew_nothing_of_gaps() -> None:
    """A compacted log without the file: written down is what may be missing so far, and from then on."""
    leader = make_leader()
    batches = batches_of(leader)
    disk = make_disk()
    follower = make_log(disk, COMPACTED, tail_bytes=0)
    follower.append_copied(batches[:3])
    follower.flush()
    follower.close()
    disk.unlink(f"{DIRECTORY}/compacted-offset")
    follower = open_log(disk, COMPACTED, tail_bytes=0)
    assert read_gaps(disk, DIRECTORY, is_compacted=True) == UNKNOWN_GAPS
    copy(leader, follower)
    disk.power_loss()
    log = open_log(disk, DELETED, sealed_offset=leader.log_end_offset, tail_bytes=0)
    assert log.recovery_report.damage is None
    assert read_all(log) == read_all(leader)


def test_gap_is_written_down_when_the_batches_are_and_only_where_it_is_news() -> None:
    leader = make_leader()
    batches = batches_of(leader)
    disk = make_disk()
    follower = make_log(disk)
    follower.append_copied(batches[:1])
    first = follower.begin_flush()
    assert first is not None
    follower.append_copied(batches[1:3])
    assert first.is_plain
    first.run()
    follower.finish_flush(first)
    assert allowed_below(disk) == 0
    second = follower.begin_flush()
    assert second is not None
    assert not second.is_plain  # it must not run on the loop
    second.run()
    follower.finish_flush(second)
    assert allowed_below(disk) == batches[2][1].base_offset + 1
    put(follower, keyed_batch((b"k", b"next")))
    third = follower.begin_flush()
    assert third is not None
    assert third.is_plain


def test_flush_and_swap_may_widen_the_gaps_at_once() -> None:
    disk = make_disk()
    follower = make_log(disk, COMPACTED, tail_bytes=0)
    append(follower, *[keyed_batch((b"k", b"%d" % number)) for number in range(10)])
    behind_a_gap = keyed_batch((b"k", b"copied"))
    stamp(behind_a_gap, 100, 0)
    follower.append_copied([(memoryview(behind_a_gap), read_header(behind_a_gap))])
    flush = follower.begin_flush()
    assert flush is not None
    part = follower.cleanable_part(2**62, follower.flushed_offset)
    compaction = follower.begin_compaction(part, now=2**62, map_bytes=1 << 20)
    for _ in compaction.map_keys():
        pass
    group = follower.group_segments(compaction)[0]
    cleaned = follower.begin_group(compaction, group)
    for _ in compaction.clean(group, cleaned):
        pass
    swap = follower.begin_swap(group, cleaned)
    assert swap is not None
    assert swap.gaps is not None
    flush.run()
    swap.commit()
    assert allowed_below(disk) == 101


def stopped_flushes(batches: list[CopiedBatch]) -> Iterator[tuple[MemoryFileSystem, bool]]:
    """A machine that stops before each operation of a flush, with or without its page cache."""
    for loses_power in (False, True):
        for operation in range(1000):
            disk = make_disk(operation)
            follower = make_log(disk, DELETED, tail_bytes=0)
            follower.append_copied(batches)
            job = follower.begin_flush()
            assert job is not None
            is_done = runs_up_to(disk, job, operation)
            if loses_power:
                disk.power_loss()
            else:
                disk.crash()
            yield disk, is_done
            if is_done:
                break


def runs_up_to(disk: MemoryFileSystem, job: FlushJob, operation: int) -> bool:
    disk.stop_before(disk.operation_count + operation)
    try:
        job.run()
    except MachineStopped:
        return False
    return True


def test_machine_that_stops_while_gaps_are_copied_leaves_no_damage() -> None:
    leader = make_leader()
    batches = batches_of(leader)
    ends = []
    for disk, is_done in stopped_flushes(batches):
        log = open_log(disk, DELETED, sealed_offset=leader.log_end_offset if is_done else 0, tail_bytes=0)
        assert log.recovery_report.damage is None
        copy(leader, log)
        assert read_all(log) == read_all(leader)
        ends.append(is_done)
    assert ends.count(True) == 2


def test_gaps_of_a_flush_that_failed_are_asked_for_again() -> None:
    leader = make_leader()
    batches = batches_of(leader)
    size = sum(len(batch) for batch, _ in batches)
    disk = make_disk(capacity_bytes=1 << 20)
    follower = make_log(disk, DELETED, tail_bytes=0)
    disk.capacity_bytes = disk.used_bytes + size // 2
    follower.append_copied(batches)
    with pytest.raises(StorageError):
        follower.flush()
    disk.capacity_bytes = 1 << 20
    follower.rewind()
    copy(leader, follower)
    disk.power_loss()
    log = open_log(disk, DELETED, sealed_offset=leader.log_end_offset, tail_bytes=0)
    assert log.recovery_report.damage is None
    assert read_all(log) == read_all(leader)
