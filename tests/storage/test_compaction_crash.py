"""A machine that stops in front of every disk operation of a compaction, and what the next start finds."""

import contextlib

import pytest
from tests.storage.compaction_testing import (
    HOUR_MS,
    append,
    compact,
    compacted_config,
    keyed_batch,
    latest,
    marker,
    offsets_in,
    records_in,
    roll,
)
from tests.storage.log_testing import DIRECTORY, make_disk, make_log, open_log, put

from penstock.records.batch import read_header
from penstock.records.record import Record
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

KEYS = [b"k%d" % number for number in range(5)]
CONFIG = compacted_config(segment_bytes=260)


def fill(log: Log) -> None:
    """Several groups of several segments: updates, tombstones, aborted and committed transactions."""
    for number in range(14):
        append(log, keyed_batch((KEYS[number % 5], b"%d" % number), (KEYS[number % 2], b"x%d" % number)))
    append(log, keyed_batch((KEYS[0], None)))
    append(
        log,
        keyed_batch((KEYS[1], b"bad"), producer=(7, 0, 0), transactional=True),
        marker(7, is_commit=False),
    )
    append(
        log,
        keyed_batch((KEYS[2], b"good"), producer=(8, 0, 0), transactional=True),
        marker(8, is_commit=True),
    )
    append(log, keyed_batch((KEYS[3], None)), keyed_batch((b"last", b"1")))
    roll(log)


def make_filled(seed: int) -> tuple[MemoryFileSystem, Log]:
    disk = make_disk(seed)
    log = make_log(disk, CONFIG, tail_bytes=0)
    fill(log)
    return disk, log


def visible(log: Log) -> list[Record]:
    """What a reader of committed data is given."""
    aborted = log.aborted_transactions(0, log.flushed_offset)
    return [
        record
        for record in records_in(log)
        if not any(entry.first_offset <= record.offset < entry.last_offset for entry in aborted)
    ]


def reopen(disk: MemoryFileSystem, recovery_point: int, config: LogConfig = CONFIG) -> Log:
    return open_log(disk, config, recovery_point=recovery_point, sealed_offset=recovery_point, tail_bytes=0)


def compact_until(disk: MemoryFileSystem, log: Log, stop: int, now: int = 5_000) -> bool:
    """Whether the machine stopped on the way."""
    disk.stop_before(disk.operation_count + stop)
    with contextlib.suppress(MachineStopped):
        compact(log, now=now)
        return False
    return True


@pytest.mark.parametrize("ending", ["killed", "power"])
@pytest.mark.parametrize("seed", [1, 2])
def test_interrupted_compaction_loses_no_latest_value(ending: str, seed: int) -> None:
    disk, log = make_filled(seed)
    expected, end = latest(visible(log)), log.flushed_offset
    offsets = set(offsets_in(log))
    stop = 0
    while True:
        disk, log = make_filled(seed)
        was_stopped = compact_until(disk, log, stop)
        if ending == "power":
            disk.power_loss()
        else:
            disk.crash()
        log = reopen(disk, end)
        assert log.recovery_report.damage is None
        assert latest(visible(log)) == expected, f"stopped before operation {stop}"
        assert log.log_end_offset == end
        assert set(offsets_in(log)) <= offsets
        assert not [
            name for name in disk.list_directory(DIRECTORY) if name.endswith(("swap", "cleaned", "deleted"))
        ]
        if not was_stopped:
            break
        stop += 1
    assert stop > 40


@pytest.mark.parametrize("point", range(0, 200, 7))
def test_interrupted_compaction_is_done_again_with_the_same_outcome(point: int) -> None:
    disk, log = make_filled(3)
    compact(log)
    wanted = [(record.offset, record.value) for record in records_in(log)]
    disk, log = make_filled(3)
    end = log.flushed_offset
    compact_until(disk, log, point)
    disk.power_loss()
    log = reopen(disk, end)
    compact(log)
    # The interrupted pass may have set delete horizons, and kept more empty batches; records are the same.
    assert [(record.offset, record.value) for record in records_in(log)] == wanted


def test_deleted_key_never_comes_back_wherever_the_last_pass_is_interrupted() -> None:
    stop = 0
    while True:
        disk, log = make_filled(5)
        end = log.flushed_offset
        compact(log, now=1_000)
        append(log, keyed_batch((b"new", b"1")))
        roll(log)
        end = log.flushed_offset
        # The tombstones go in this pass.
        was_stopped = compact_until(disk, log, stop, now=2_000 + HOUR_MS)
        disk.power_loss()
        log = reopen(disk, end)
        found = latest(visible(log))
        assert KEYS[0] not in found
        assert KEYS[3] not in found
        assert found[b"new"] == b"1"
        if not was_stopped:
            assert all(record.value is not None for record in records_in(log))
            return
        stop += 1


def test_producers_are_remembered_from_a_compacted_log_alone() -> None:
    """Snapshots are derived: without them all is read from the batches, emptied ones too."""
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    append(log, keyed_batch((b"a", b"1"), producer=(7, 3, 0)), keyed_batch((b"a", b"2"), producer=(7, 3, 1)))
    append(log, *[keyed_batch((b"a", b"%d" % number)) for number in range(10)])
    compact(log)
    end = log.flushed_offset
    log.close()
    for name in disk.list_directory(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.unlink(f"{DIRECTORY}/{name}")
    log = reopen(disk, end)
    assert put(log, keyed_batch((b"a", b"2"), producer=(7, 3, 1))).is_duplicate


def test_gaps_are_allowed_where_compaction_was_and_damage_elsewhere() -> None:
    disk, log = make_filled(1)
    end = log.flushed_offset
    compact(log)
    log.close()
    # No longer compacted, and everything is scanned.
    for config in (CONFIG, LogConfig(segment_bytes=260)):
        log = open_log(disk, config, tail_bytes=0)
        assert log.recovery_report.damage is None
        assert log.log_end_offset == end
        log.close()


def test_missing_segment_of_a_compacted_log_is_damage() -> None:
    disk, log = make_filled(1)
    compact(log)
    segments = log.describe_segments()
    assert len(segments) > 3
    log.close()
    disk.unlink(f"{DIRECTORY}/{segments[1].base_offset:020d}.log")
    log = open_log(disk, CONFIG, tail_bytes=0)
    assert log.recovery_report.damage is not None


def test_log_that_kafka_compacted_is_compacted_on() -> None:
    """Kafka lets a segment end before the next one begins, and writes no file that says where gaps may be."""
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    append(log, *[keyed_batch((KEYS[number % 5], b"%d" % number)) for number in range(12)])
    roll(log)
    segments = log.describe_segments()
    end = log.flushed_offset
    log.close()
    for segment in segments[:2]:
        # Its last batch is gone.
        path = f"{DIRECTORY}/{segment.base_offset:020d}.log"
        file = disk.open(path)
        header = read_header(file.read(0, 61))
        file.truncate(disk.size(path) - header.size_bytes)
        file.flush()
    log = open_log(disk, CONFIG, recovery_point=0, tail_bytes=0)
    assert log.recovery_report.damage is None
    expected = latest(visible(log))
    assert compact(log) is not None
    assert latest(visible(log)) == expected
    disk.power_loss()
    log = reopen(disk, end)
    assert log.recovery_report.damage is None
    assert latest(visible(log)) == expected


def test_producer_whose_newest_batch_is_lost_is_remembered_by_the_one_before() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG, tail_bytes=0)
    append(log, keyed_batch((b"a", b"1"), producer=(7, 0, 0)), *[keyed_batch((b"a", b"x")) for _ in range(8)])
    roll(log)
    end = log.flushed_offset
    # Six more, none of them flushed: the log remembers five.
    for number in range(6):
        put(log, keyed_batch((b"a", b"2"), producer=(7, 0, 1 + number)))
    log.compact(now=5_000, stable_offset=end, map_bytes=1 << 20)
    disk.power_loss()
    for name in disk.list_directory(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.unlink(f"{DIRECTORY}/{name}")
    log = reopen(disk, end)
    assert put(log, keyed_batch((b"a", b"1"), producer=(7, 0, 0))).is_duplicate
    assert not put(log, keyed_batch((b"a", b"2"), producer=(7, 0, 1))).is_duplicate
