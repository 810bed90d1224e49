"""Opening logs after everything that can happen to files; whole stories are in ``test_log_model``."""

import json

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
    reopen_clean,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError, FlushFailedError
from penstock.records.batch import stamp
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=0)
LAZY = LogConfig(flush_messages=10_000)
BATCH = len(make_batch(b"x" * 100))


def segment_path(base_offset: int, suffix: str = ".log") -> str:
    return f"{DIRECTORY}/{base_offset:020d}{suffix}"


def crashed(disk: MemoryFileSystem, count: int, config: LogConfig = CONFIG) -> list[bytes]:
    """A log of ``count`` flushed batches whose process died."""
    log = make_log(disk, config)
    batches = fill(log, count)
    disk.crash()
    return batches


def flip(disk: MemoryFileSystem, base_offset: int, position: int) -> None:
    disk.flip_bit(segment_path(base_offset), position)


def test_new_directory_becomes_an_empty_log() -> None:
    disk = make_disk()
    disk.make_directory(DIRECTORY)
    log = open_log(disk, log_start_offset=40)
    assert (log.log_start_offset, log.log_end_offset) == (40, 40)
    assert disk.list_directory(DIRECTORY) == [f"{40:020d}.log"]


def test_clean_open_reads_no_batch_but_the_last() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    batches = fill(log, 20)
    log = reopen_clean(disk, log)
    assert log.recovery_report.was_clean
    assert log.recovery_report.scanned_bytes == 0
    assert read_all(log) == b"".join(batches)
    assert log.leader_epochs.starts == ((0, 0),)


def test_clean_open_goes_on_where_the_log_ended() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    batches = fill(log, 3)
    log = reopen_clean(disk, log)
    batches += fill(log, 20, first_timestamp=5_000)
    log = reopen_clean(disk, log)
    assert read_all(log) == b"".join(batches)
    assert log.offset_for_timestamp(4_000) == (3, 5_000)


@pytest.mark.parametrize("damage", ["flip", "cut", "grow"])
def test_clean_marker_is_not_believed_when_the_last_batch_is_not_as_it_was(damage: str) -> None:
    disk = make_disk()
    log = make_log(disk, LogConfig())
    batches = fill(log, 5)
    log.close()
    if damage == "flip":
        flip(disk, 0, 4 * BATCH + 70)
    elif damage == "cut":
        disk.open(segment_path(0)).truncate(5 * BATCH - 1)
    else:
        disk.open(segment_path(0)).write(5 * BATCH, [b"junk"])
    log = open_log(disk, recovery_point=5, clean=True, sealed_offset=5)
    assert not log.recovery_report.was_clean
    assert log.is_offline == (damage != "grow")
    assert read_all(log) == b"".join(batches[: 5 if damage == "grow" else 4])


def test_unclean_open_scans_from_the_recovery_point_and_writes_it_again() -> None:
    disk = make_disk()
    batches = crashed(disk, 20, LogConfig(index_interval_bytes=0))
    start = disk.operation_count
    log = open_log(disk, recovery_point=12, sealed_offset=20)
    assert log.recovery_report.scanned_bytes == 8 * BATCH
    done = [f"{name} {path}" for name, path in list(disk.operations)[start:]]
    assert done == [
        f"sync_directory {DIRECTORY}",
        f"write {segment_path(0)}",
        f"truncate {segment_path(0)}",
        f"flush {segment_path(0)}",
    ]
    disk.power_loss()
    assert read_all(open_log(disk, recovery_point=12, sealed_offset=20)) == b"".join(batches)


def test_bytes_that_were_only_in_the_page_cache_are_durable_after_opening() -> None:
    for seed in range(20):
        disk = make_disk(seed)
        log = make_log(disk)
        put(log, make_batch(b"written, not flushed"))
        job = log.begin_flush()
        assert job is not None
        job.write()
        disk.crash()
        assert open_log(disk).log_end_offset == 1
        disk.power_loss()
        log = open_log(disk, sealed_offset=1)
        assert not log.is_offline
        assert log.log_end_offset == 1


def test_failed_flush_then_restart_does_not_pretend() -> None:
    for seed in range(20):
        disk = make_disk(seed)
        log = make_log(disk)
        batches = fill(log, 2)
        put(log, make_batch(b"unlucky"))
        disk.fail_flush(".log")
        with pytest.raises(FlushFailedError):
            log.flush()
        disk.crash()
        log = open_log(disk, recovery_point=2, sealed_offset=2)
        end = log.log_end_offset
        assert end in (2, 3)
        content = read_all(log)
        assert content.startswith(b"".join(batches))
        disk.power_loss()
        assert read_all(open_log(disk, recovery_point=2, sealed_offset=end)) == content


def test_torn_tail_is_cut_and_reported() -> None:
    disk = make_disk()
    batches = crashed(disk, 5, LogConfig())
    disk.open(segment_path(0)).truncate(5 * BATCH - 30)
    log = open_log(disk, recovery_point=2, sealed_offset=4)
    assert not log.is_offline
    assert log.recovery_report.truncated_bytes == BATCH - 30
    assert disk.size(segment_path(0)) == 4 * BATCH
    assert read_all(log) == b"".join(batches[:4])


def test_flip_below_the_seal_takes_the_log_offline_and_touches_nothing() -> None:
    disk = make_disk()
    batches = crashed(disk, 5, LogConfig())
    flip(disk, 0, 4 * BATCH + 80)
    before = disk.read_file(segment_path(0))
    log = open_log(disk, recovery_point=2, sealed_offset=5)
    assert log.is_offline
    assert log.recovery_report.damage is not None
    assert log.recovery_report.damage.offset == 4
    assert disk.read_file(segment_path(0)) == before
    assert read_all(log) == b"".join(batches[:4])
    with pytest.raises(ApiError, match="damaged at offset 4") as caught:
        put(log, make_batch(b"no"))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(ApiError) as caught:
        log.read(5, max_bytes=100, end_offset=5)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    report = json.loads(disk.read_file(segment_path(0, ".corrupt")))
    assert report["offset"] == 4
    assert report["position"] == 4 * BATCH
    assert report["sealed_offset"] == 5


def test_offline_log_is_found_offline_again() -> None:
    disk = make_disk()
    crashed(disk, 5, LogConfig())
    flip(disk, 0, 3 * BATCH + 80)
    log = open_log(disk, recovery_point=2, sealed_offset=5)
    assert log.recovery_point == 2
    assert log.expire(now=10**15, high_watermark=3) is None
    log.close()
    assert open_log(disk, recovery_point=2, sealed_offset=5).is_offline
    assert open_log(disk, recovery_point=log.recovery_point, clean=True).is_offline


def test_flip_before_good_batches_is_damage_even_without_a_seal() -> None:
    disk = make_disk()
    crashed(disk, 5, LogConfig())
    flip(disk, 0, 2 * BATCH + 80)
    log = open_log(disk)
    assert log.is_offline
    assert log.log_end_offset == 2


def test_zeroed_sector_below_the_seal_is_damage() -> None:
    disk = make_disk()
    crashed(disk, 20, LogConfig())
    disk.open(segment_path(0)).write(512, [bytes(512)])
    log = open_log(disk, sealed_offset=20)
    assert log.is_offline
    assert log.log_end_offset == 512 // BATCH


def test_cut_file_below_the_recovery_point_is_damage() -> None:
    disk = make_disk()
    batches = crashed(disk, 5, LogConfig())
    disk.open(segment_path(0)).truncate(3 * BATCH)
    log = open_log(disk, recovery_point=5)
    assert log.is_offline
    assert log.refusal is not None
    assert "ends at 3, but was durable up to 5" in log.refusal
    assert read_all(log) == b"".join(batches[:3])


def test_deleted_segment_is_damage_below_and_above_the_recovery_point() -> None:
    for recovery_point in (0, 20):
        disk = make_disk()
        batches = crashed(disk, 20)
        bases = [int(name[:20]) for name in disk.list_directory(DIRECTORY) if name.endswith(".log")]
        assert len(bases) == 4
        disk.unlink(segment_path(bases[1]))
        log = open_log(disk, CONFIG, recovery_point=recovery_point, sealed_offset=20)
        assert log.is_offline
        assert log.refusal is not None
        assert f"offsets {bases[1]} to {bases[2] - 1} are missing" in log.refusal
        assert read_all(log) == b"".join(batches[: bases[1]])


def test_all_segments_deleted_is_damage() -> None:
    disk = make_disk()
    crashed(disk, 5, LogConfig())
    disk.unlink(segment_path(0))
    assert open_log(disk, recovery_point=5).is_offline
    assert open_log(disk, recovery_point=5).is_offline


def test_misdirected_batch_is_damage() -> None:
    disk = make_disk()
    batches = crashed(disk, 5, LogConfig())
    disk.open(segment_path(0)).write(BATCH, [batches[3]])
    log = open_log(disk)
    assert log.is_offline
    assert log.refusal is not None
    assert "base offset 3, expected was 1" in log.refusal


def test_bad_batch_in_a_segment_with_a_successor_is_damage() -> None:
    disk = make_disk()
    crashed(disk, 20)
    last = int(disk.list_directory(DIRECTORY)[-2][:20])
    disk.open(segment_path(0)).truncate(4 * BATCH)
    log = open_log(disk, CONFIG)
    assert last > 5
    assert log.is_offline
    assert log.log_end_offset == 4


def test_damage_below_the_recovery_point_is_found_when_it_is_read() -> None:
    disk = make_disk()
    batches = crashed(disk, 20)
    flip(disk, 0, 2 * BATCH + 80)
    log = open_log(disk, CONFIG, recovery_point=20, sealed_offset=20, tail_bytes=0)
    assert not log.is_offline
    with pytest.raises(CorruptLogError):
        read_all(log)
    log.advance_log_start(3)
    assert read_all(log) == b"".join(batches[3:])


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("damage", ["deleted", "garbage", "cut", "zeros"])
@pytest.mark.parametrize("clean", [True, False])
def test_index_files_may_be_lost_or_nonsense(suffix: str, damage: str, clean: bool) -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    batches = fill(log, 20)
    log.close()
    for name in disk.list_directory(DIRECTORY):
        if name.endswith(suffix):
            path = f"{DIRECTORY}/{name}"
            content = {"garbage": b"\x5a" * 24, "cut": b"\x00" * 5, "zeros": bytes(48)}.get(damage)
            disk.unlink(path)
            if content is not None:
                disk.open(path, create=True).write(0, [content])
    log = open_log(disk, CONFIG, recovery_point=20, clean=clean, tail_bytes=0)
    assert not log.is_offline
    assert read_all(log, max_bytes=400) == b"".join(batches)
    assert [log.offset_for_timestamp(1_000 + n) for n in range(20)] == [(n, 1_000 + n) for n in range(20)]
    batches += fill(log, 20, first_timestamp=2_000)
    log = reopen_clean(disk, log)
    assert read_all(log, max_bytes=400) == b"".join(batches)


@pytest.mark.parametrize("damage", ["deleted", "garbage", "outdated"])
def test_epoch_checkpoint_may_be_lost_or_nonsense(damage: str) -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(30):
        put(log, make_batch(b"x" * 100), leader_epoch=number // 7)
    log.close()
    path = f"{DIRECTORY}/leader-epoch-checkpoint"
    disk.unlink(path)
    if damage != "deleted":
        content = b"nonsense" if damage == "garbage" else b"0\n1\n0 0\n"
        disk.open(path, create=True).write(0, [content])
    for recovery_point in (0, 30):
        log = open_log(disk, CONFIG, recovery_point=recovery_point, clean=recovery_point == 30)
        assert log.leader_epochs.starts == ((0, 0), (1, 7), (2, 14), (3, 21), (4, 28))


@pytest.mark.parametrize("damage", ["deleted", "garbage"])
def test_producer_snapshots_may_be_lost_or_nonsense(damage: str) -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(20):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
    log.close()
    for name in disk.list_directory(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.unlink(f"{DIRECTORY}/{name}")
            if damage == "garbage":
                disk.open(f"{DIRECTORY}/{name}", create=True).write(0, [b"nonsense" * 10])
    log = open_log(disk, CONFIG, recovery_point=20, clean=True)
    retry = put(log, make_batch(b"x" * 100, producer=(7, 0, 16)))
    assert (retry.is_duplicate, retry.base_offset) == (True, 16)
    assert put(log, make_batch(b"x", producer=(7, 0, 20))).base_offset == 20


def test_duplicate_window_survives_a_crash() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for number in range(20):
        put(log, make_batch(b"x" * 100, producer=(7, 0, number)))
        log.flush()
    disk.crash()
    log = open_log(disk, CONFIG, recovery_point=18)
    for number in range(15, 20):
        assert put(log, make_batch(b"x" * 100, producer=(7, 0, number))).is_duplicate
    with pytest.raises(ApiError) as caught:
        put(log, make_batch(b"x" * 100, producer=(7, 0, 14)))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def transactional_log(disk: MemoryFileSystem) -> Log:
    """Offsets 0 and 1 are aborted at 2; 3 is committed at 4; 5 stays open."""
    log = make_log(disk, CONFIG)
    put(log, make_batch(b"a", b"b", producer=(7, 0, 0), transactional=True))
    put(log, marker(7, is_commit=False), is_client=False)
    put(log, make_batch(b"c", producer=(7, 0, 2), transactional=True))
    put(log, marker(7, is_commit=True), is_client=False)
    put(log, make_batch(b"d", producer=(8, 0, 0), transactional=True))
    log.flush()
    return log


def marker(producer_id: int, *, is_commit: bool) -> bytearray:
    return build_transaction_marker(
        TransactionMarker(
            is_commit=is_commit, coordinator_epoch=1, producer_id=producer_id, producer_epoch=0
        ),
        timestamp=1_000,
    )


@pytest.mark.parametrize("way", ["clean", "crash", "lost index", "damaged index"])
def test_transactions_survive(way: str) -> None:
    disk = make_disk()
    log = transactional_log(disk)
    if way == "crash":
        disk.crash()
        log = open_log(disk, CONFIG)
    else:
        log.close()
        path = segment_path(0, ".txnindex")
        if way == "damaged index":
            disk.open(path).write(0, [b"\xff" * 10])
        elif way == "lost index":
            disk.unlink(path)
        is_clean = way in ("clean", "damaged index")
        log = open_log(disk, CONFIG, recovery_point=6 if is_clean else 0, clean=is_clean)
    assert log.first_unstable_offset is not None
    log.update_high_watermark(6)
    assert log.first_unstable_offset == 5
    assert [aborted[:3] for aborted in log.aborted_transactions(0, 6)] == [(7, 0, 2)]
    assert log.aborted_transactions(3, 6) == []


@pytest.mark.parametrize("recovery_point", [1, 3, 4, 5])
def test_aborted_transactions_below_the_recovery_point_survive_a_crash(recovery_point: int) -> None:
    """The index of the active segment is in no file yet, and the scan begins behind what it would say."""
    disk = make_disk()
    transactional_log(disk)
    disk.crash()
    log = open_log(disk, CONFIG, recovery_point=recovery_point)
    assert [aborted[:3] for aborted in log.aborted_transactions(0, 6)] == [(7, 0, 2)]


def test_compacted_log_may_have_gaps() -> None:
    disk = make_disk()
    log = make_log(disk)
    batches = fill(log, 3)
    log.close()
    disk.open(segment_path(0)).write(BATCH, [batches[2]])
    disk.open(segment_path(0)).truncate(2 * BATCH)
    config = LogConfig(cleanup_policy=frozenset({"compact"}))
    log = open_log(disk, config)
    assert not log.is_offline
    assert log.log_end_offset == 3
    assert log.read(1, max_bytes=1_000, end_offset=3).read_bytes() == batches[2]
    assert open_log(disk).is_offline


def test_preallocated_rest_is_no_damage() -> None:
    disk = make_disk()
    config = LogConfig(segment_bytes=5_000, preallocate=True)
    batches = crashed(disk, 5, config)
    log = open_log(disk, config, recovery_point=2, sealed_offset=5)
    assert not log.is_offline
    assert log.recovery_report.truncated_bytes == 0
    assert read_all(log) == b"".join(batches)
    assert read_all(log) + fill(log, 1)[0] == read_all(log)


def test_epoch_going_back_is_damage() -> None:
    disk = make_disk()
    log = make_log(disk)
    put(log, make_batch(b"a"), leader_epoch=5)
    bad, after = make_batch(b"b"), make_batch(b"c")
    stamp(bad, 1, 3)
    stamp(after, 2, 5)
    log.flush()
    disk.open(segment_path(0)).write(log.size_bytes, [bad, after])
    disk.crash()
    log = open_log(disk)
    assert log.is_offline
    assert log.log_end_offset == 1


def test_log_start_beyond_the_end_is_damage_where_every_flush_is_durable() -> None:
    disk = make_disk()
    crashed(disk, 5)
    assert open_log(disk, CONFIG, log_start_offset=9).is_offline


def test_damage_report_that_does_not_fit_on_the_disk_is_no_reason_not_to_open() -> None:
    disk = make_disk()
    crashed(disk, 5, LogConfig())
    flip(disk, 0, 80)
    disk.capacity_bytes = disk.used_bytes
    log = open_log(disk, sealed_offset=5)
    assert log.is_offline
    assert log.recovery_report.report_is_missing


def test_damage_below_the_recovery_point_of_the_active_segment_does_not_keep_it_from_opening() -> None:
    disk = make_disk()
    batches = crashed(disk, 10, LogConfig(index_interval_bytes=0))
    disk.open(segment_path(0)).write(2 * BATCH, [b"\xff" * 40])
    disk.open(segment_path(0, ".index"), create=True).write(
        0, [bytes.fromhex("00000006") + (6 * BATCH).to_bytes(4, "big")]
    )
    log = open_log(disk, LogConfig(index_interval_bytes=0), recovery_point=8, sealed_offset=10, tail_bytes=0)
    assert not log.is_offline
    assert log.log_end_offset == 10
    assert log.read(8, max_bytes=10_000, end_offset=10).read_bytes() == b"".join(batches[8:])
    with pytest.raises(CorruptLogError):
        read_all(log)


def test_epoch_checkpoint_that_knows_of_a_later_start_than_was_made_durable_is_not_believed() -> None:
    disk = make_disk()
    log = make_log(disk)
    fill(log, 10)
    log.advance_log_start(7)
    log.close()
    log = open_log(disk, recovery_point=10, log_start_offset=4)
    assert log.log_start_offset == 4
    assert log.leader_epochs.starts == ((0, 4),)


def test_name_that_only_the_page_cache_knows_is_durable_after_opening() -> None:
    for seed in range(10):
        disk = make_disk(seed)
        disk.make_directory(DIRECTORY)
        disk.sync_directory("/data")
        disk.open(segment_path(0), create=True).flush()
        disk.crash()
        log = open_log(disk)
        batches = fill(log, 2)
        disk.power_loss()
        assert read_all(open_log(disk, sealed_offset=2)) == b"".join(batches)


def test_cut_that_only_the_page_cache_knows_is_durable_after_opening() -> None:
    for seed in range(10):
        disk = make_disk(seed)
        batches = crashed(disk, 5, LogConfig())
        disk.fail_flush(".log")
        file = disk.open(segment_path(0))
        file.truncate(2 * BATCH)
        with pytest.raises(FlushFailedError):
            file.flush()
        disk.crash()
        log = open_log(disk, recovery_point=2, sealed_offset=2)
        assert log.log_end_offset == 2
        disk.power_loss()
        assert read_all(open_log(disk, recovery_point=2, sealed_offset=2)) == b"".join(batches[:2])


def test_log_whose_start_was_above_all_that_was_durable_begins_anew_there() -> None:
    for seed in range(20):
        disk = make_disk(seed)
        log = make_log(disk, LAZY)
        for number in range(20):
            put(log, make_batch(b"%d" % number))
        job = log.begin_flush()
        assert job is not None
        job.run()
        log.finish_flush(job)
        assert log.recovery_point == 0
        log.advance_log_start(20)
        disk.power_loss()
        log = open_log(disk, LAZY, log_start_offset=20)
        assert log.recovery_report.damage is None
        assert (log.log_start_offset, log.log_end_offset) == (20, 20)
        batches = fill(log, 2)
        disk.power_loss()
        log = open_log(disk, LAZY, log_start_offset=20, tail_bytes=0)
        assert read_all(log) == b"".join(batches)[: len(read_all(log))]
        assert log.log_start_offset == 20


def test_beginning_anew_at_the_start_may_be_interrupted() -> None:
    for operation in range(1000):
        disk = make_disk(operation)
        put(make_log(disk, LAZY), make_batch(b"deleted", producer=(7, 0, 0)), leader_epoch=3)
        disk.power_loss()
        disk.stop_before(disk.operation_count + operation)
        try:
            open_log(disk, LAZY, log_start_offset=20)
            is_done = True
        except MachineStopped:
            is_done = False
        disk.power_loss()
        log = open_log(disk, LAZY, log_start_offset=20)
        assert log.recovery_report.damage is None
        assert (log.log_start_offset, log.log_end_offset) == (20, 20)
        assert log.leader_epochs.starts == ()
        if is_done:
            assert operation > 5
            return


def test_log_that_lost_what_was_durable_is_damaged_wherever_it_starts() -> None:
    disk = make_disk()
    log = make_log(disk)
    fill(log, 10)
    log.close()
    disk.open(segment_path(0)).truncate(4 * BATCH)
    assert open_log(disk, LAZY, sealed_offset=5, log_start_offset=8).is_offline
    # What was reported stays damage until somebody decides.
    assert open_log(disk, LAZY, log_start_offset=8).is_offline
