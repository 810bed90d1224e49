from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from penstock.model.errors import (
    DirectoryInUseError,
    FlushFailedError,
    InvariantError,
    OperatingError,
    StorageError,
)
from penstock.model.ids import Millis, NodeId, Offset, TopicId, TopicPartition
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.filesystem import FileSystem
from penstock.storage.flush_failures import record_flush_failure
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.log_directory import (
    CHECKPOINT_INTERVAL_BYTES,
    CHECKPOINT_INTERVAL_MS,
    DirectoryOptions,
    LogDirectory,
)
from penstock.storage.log_loading import LogLoad, LogSpec
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped
from penstock.storage.real_filesystem import RealFileSystem

NOW = Millis(1_700_000_000_000)
PATH = "/var/lib/penstock"
A, B = TopicPartition("a", 0), TopicPartition("b", 3)


def topic_id(number: int) -> TopicId:
    return TopicId(number.to_bytes(16, "big"))


def spec(partition: TopicPartition, number: int = 1) -> LogSpec:
    return LogSpec(partition=partition, topic_id=topic_id(number), config=LogConfig())


def uuids(seed: int = 7) -> Callable[[], bytes]:
    rng = Random(seed)
    return lambda: rng.randbytes(16)


def open_directory(
    fs: FileSystem, path: str = PATH, *, node_id: int = 1, cluster_id: str | None = None, seed: int = 7
) -> LogDirectory:
    options = DirectoryOptions(
        node_id=NodeId(node_id), cluster_id=cluster_id, new_uuid=uuids(seed), reserve_bytes=4096
    )
    return LogDirectory.open(fs, path, options, now=NOW)


def disk(seed: int = 1) -> MemoryFileSystem:
    return MemoryFileSystem(Random(seed))


def opened(directory: LogDirectory, *specs: LogSpec) -> list[Log]:
    load = directory.begin_create(specs, tail_cache=None, now=NOW)
    load.run()
    return directory.finish_load(load)


def loaded(directory: LogDirectory, *specs: LogSpec) -> LogLoad:
    load = directory.begin_load(specs, tail_cache=None, now=NOW)
    load.run()
    directory.finish_load(load)
    return load


def append(directory: LogDirectory, log: Log, *values: bytes) -> None:
    batch = build_batch([NewRecord(value=value) for value in values])
    log.append(batch, read_header(batch), leader_epoch=0, now=NOW)
    log.flush()
    directory.record_flushed(log, len(batch))


def close(directory: LogDirectory) -> None:
    for log in directory.logs.values():
        log.close()
    directory.close(NOW)


def partition_names(fs: FileSystem, path: str = PATH) -> list[str]:
    return [name for name in fs.list_directory(path) if fs.is_directory(f"{path}/{name}")]


def test_new_directory_is_made_with_all_above_it_and_given_an_identity() -> None:
    for seed in range(10):
        fs = disk(seed)
        made = open_directory(fs, cluster_id="MkU3OEVBNTcwNTJENDM2Qk").meta
        fs.power_loss()
        again = open_directory(fs, seed=99).meta
        assert again == made
        assert made.cluster_id == "MkU3OEVBNTcwNTJENDM2Qk"


def test_new_directory_without_a_cluster_begins_one() -> None:
    fs = disk()
    meta = open_directory(fs).meta
    assert len(meta.cluster_id) == 22
    assert meta.directory_id != bytes(16)


def test_directory_of_another_node_or_cluster_is_refused_and_left_unlocked() -> None:
    fs = disk()
    open_directory(fs, cluster_id="mine").abandon()
    with pytest.raises(OperatingError, match="node 1"):
        open_directory(fs, node_id=2)
    with pytest.raises(OperatingError, match="cluster mine"):
        open_directory(fs, cluster_id="other")
    open_directory(fs, cluster_id="mine")


def test_directory_in_use_is_refused() -> None:
    fs = disk()
    open_directory(fs)
    with pytest.raises(DirectoryInUseError):
        open_directory(fs)


def test_directory_on_a_disk_that_keeps_failing_is_refused() -> None:
    fs = disk()
    open_directory(fs).abandon()
    record_flush_failure(fs, PATH, NOW)
    record_flush_failure(fs, PATH, NOW)
    with pytest.raises(OperatingError, match="failed to flush 2 times"):
        open_directory(fs)


def test_open_removes_temporary_files() -> None:
    fs = disk()
    open_directory(fs).abandon()
    fs.open(f"{PATH}/recovery-point-offset-checkpoint.tmp", create=True).close()
    open_directory(fs)
    assert not fs.exists(f"{PATH}/recovery-point-offset-checkpoint.tmp")


def test_real_directory_is_private(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.mkdir(mode=0o755)
    directory = open_directory(RealFileSystem(), str(path))
    assert directory.is_private
    assert path.stat().st_mode & 0o777 == 0o700
    directory.abandon()


def test_opened_logs_are_durable_with_one_sync_of_the_parent() -> None:
    for seed in range(10):
        fs = disk(seed)
        directory = open_directory(fs)
        before = fs.operation_count
        logs = opened(directory, *(spec(TopicPartition("a", number)) for number in range(20)))
        operations = list(fs.operations)[before:]
        assert [operation for operation in operations if operation == ("sync_directory", PATH)] == [
            ("sync_directory", PATH)
        ]
        assert [log.log_end_offset for log in logs] == [0] * 20
        fs.power_loss()
        again = open_directory(fs)
        before = fs.operation_count
        opened(again, *(spec(TopicPartition("a", number)) for number in range(20)))
        made = [o for o in list(fs.operations)[before:] if o.name in ("make_directory", "create")]
        assert made == []


def test_open_of_a_log_that_is_open_is_a_bug() -> None:
    directory = open_directory(disk())
    opened(directory, spec(A))
    with pytest.raises(InvariantError, match="open already"):
        directory.begin_create([spec(A)], tail_cache=None, now=NOW)


def test_records_survive_a_clean_stop_without_recovery() -> None:
    fs = disk()
    directory = open_directory(fs)
    assert not directory.was_clean
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one", b"two")
    close(directory)
    again = open_directory(fs)
    assert again.was_clean
    (log,) = opened(again, spec(A))
    assert (log.log_end_offset, log.recovery_report.was_clean) == (2, True)
    assert log.recovery_report.scanned_bytes == 0


def test_clean_stop_vouches_only_once() -> None:
    fs = disk()
    close(open_directory(fs))
    assert open_directory(fs).was_clean
    fs.power_loss()
    assert not open_directory(fs).was_clean


def test_clean_stop_does_not_vouch_for_files_that_changed_since() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    close(directory)
    path = f"{PATH}/a-0/00000000000000000000.log"
    fs.open(path).write(fs.size(path), [b"garbage"])
    (log,) = opened(open_directory(fs), spec(A))
    assert not log.recovery_report.was_clean
    assert log.log_end_offset == 1


def test_acknowledged_records_survive_power_loss_at_any_operation() -> None:
    """The whole directory under a plain workload, stopped before each of its operations in turn."""

    def work(fs: MemoryFileSystem, acknowledged: list[int]) -> None:
        directory = open_directory(fs)
        (log,) = opened(directory, spec(A))
        for number in range(3):
            append(directory, log, b"x" * 300)
            acknowledged.append(number)
            directory.seal.flush()
            directory.begin_checkpoint(NOW).run()
        close(directory)

    counting = disk()
    work(counting, [])
    for number in range(counting.operation_count):
        fs, acknowledged = disk(number), list[int]()
        fs.stop_before(number)
        with pytest.raises(MachineStopped):
            work(fs, acknowledged)
        fs.power_loss()
        directory = open_directory(fs)
        (log,) = opened(directory, spec(A))
        assert log.log_end_offset >= len(acknowledged)
        assert not log.is_offline
        append(directory, log, b"y")


def test_start_completes_what_a_killed_start_began_and_nothing_acknowledged_depends_on_the_page_cache() -> (
    None
):
    for number in range(100):
        fs = disk(number)
        fs.stop_before(number)
        try:
            opened(open_directory(fs), spec(A))
        except MachineStopped:
            fs.crash()
        else:
            return
        directory = open_directory(fs)
        [log] = opened(directory, spec(A))
        append(directory, log, b"kept")
        fs.power_loss()
        [log] = opened(open_directory(fs), spec(A))
        assert log.log_end_offset == 1, f"killed in front of operation {number}"
    pytest.fail("the start never came to its end")


def test_new_directory_below_one_that_may_not_be_opened_is_taken() -> None:
    class Closed(MemoryFileSystem):
        def sync_directory(self, path: str) -> None:
            if path == "/var/lib":
                raise StorageError("Permission denied")
            super().sync_directory(path)

    fs = Closed(Random(1))
    for path in ("/var", "/var/lib", PATH):
        fs.make_directory(path)
    assert open_directory(fs).meta.node_id == 1


def test_new_directory_whose_name_cannot_be_flushed_is_refused() -> None:
    fs = disk()
    for path in ("/var", "/var/lib", PATH):
        fs.make_directory(path)
    fs.fail_flush("/var/lib")
    with pytest.raises(FlushFailedError):
        open_directory(fs)


def test_topic_deleted_and_made_again_survives_power_loss_at_any_operation() -> None:
    """What the metadata says was decided first; the directory must follow it from wherever it stopped."""

    def work(fs: MemoryFileSystem, decided: list[int], acknowledged: list[bytes]) -> None:
        directory = open_directory(fs)
        for number in (1, 2):
            decided.append(number)
            acknowledged.clear()
            (log,) = opened(directory, spec(A, number))
            append(directory, log, b"%d" % number * 100, b"second")
            acknowledged.append(b"%d" % number * 100)
            directory.seal.flush()
            directory.begin_checkpoint(NOW).run()
            if number == 1:
                decided.append(0)
                job = directory.begin_delete([A], NOW)
                job.run()
                directory.finish_delete(job)

    counting = disk()
    work(counting, [], [])
    for number in range(counting.operation_count):
        for seed in range(3):
            fs, decided, acknowledged = disk(seed), list[int](), list[bytes]()
            fs.stop_before(number)
            with pytest.raises(MachineStopped):
                work(fs, decided, acknowledged)
            fs.power_loss()
            directory = open_directory(fs)
            if not decided or decided[-1] == 0:
                assert loaded(directory).jobs == []
                continue
            loaded(directory, spec(A, decided[-1]))
            log = directory.logs[A]
            assert not log.is_offline
            assert log.log_end_offset in ((2,) if acknowledged else (0, 1, 2))
            content = fs.read_file(f"{log.directory}/00000000000000000000.log")
            assert (b"1" * 100 if decided[-1] == 2 else b"2" * 100) not in content
            append(directory, log, b"more")


def test_sealed_log_that_vanished_is_offline_not_empty() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    directory.seal.flush()
    directory.abandon()
    fs.rename(f"{PATH}/a-0", f"{PATH}/elsewhere")
    (log,) = opened(open_directory(fs), spec(A))
    assert log.is_offline


def test_load_moves_strays_aside_and_keeps_their_files() -> None:
    fs = disk()
    directory = open_directory(fs)
    for log in opened(directory, spec(A), spec(B)):
        append(directory, log, b"one")
    directory.abandon()
    fs.make_directory(f"{PATH}/no-partition-here")
    again = open_directory(fs)
    load = loaded(again, spec(A))
    fs.power_loss()
    assert load.strays == ["b-3"]
    names = partition_names(fs)
    (stray,) = [name for name in names if name.endswith("-stray")]
    assert stray.startswith("b-3.")
    assert names == ["a-0", stray, "no-partition-here"]
    assert fs.size(f"{PATH}/{stray}/00000000000000000000.log") > 0


def test_load_leaves_logs_alone_that_are_open_already() -> None:
    fs = disk()
    directory = open_directory(fs)
    opened(directory, spec(A))
    assert loaded(directory, spec(B)).strays == []
    assert set(directory.logs) == {A, B}


def test_topic_made_again_never_adopts_its_predecessors_records_or_offsets() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A, 1))
    append(directory, log, b"old", b"older")
    directory.begin_checkpoint(NOW, {A: Offset(2)}).run()
    directory.abandon()
    again = open_directory(fs)
    load = loaded(again, spec(A, 2))
    assert load.strays == ["a-0"]
    assert again.logs[A].log_end_offset == 0
    assert again.high_watermark(A) is None
    fs.power_loss()
    (log,) = opened(open_directory(fs), spec(A, 2))
    assert (log.log_end_offset, log.is_offline) == (0, False)


def test_late_checkpoint_does_not_bring_a_deleted_topics_offsets_back() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A, 1))
    append(directory, log, b"old")
    late = directory.begin_checkpoint(NOW)
    job = directory.begin_delete([A], NOW)
    job.run()
    directory.finish_delete(job)
    opened(directory, spec(A, 2))
    late.run()
    fs.crash()
    (log,) = opened(open_directory(fs), spec(A, 2))
    assert (log.log_end_offset, log.is_offline) == (0, False)


def test_records_without_a_readable_owner_are_neither_served_nor_touched() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    directory.begin_checkpoint(NOW).run()
    directory.abandon()
    fs.unlink(f"{PATH}/a-0/partition.metadata")
    again = open_directory(fs)
    load = again.begin_load([spec(A), spec(B)], tail_cache=None, now=NOW)
    load.prepare()
    with pytest.raises(StorageError, match="does not say whose"):
        load.jobs[0].run()
    load.jobs[1].run()
    assert [log.topic_partition for log in again.finish_load(load)] == [B]
    assert fs.size(f"{PATH}/a-0/00000000000000000000.log") > 0
    again.begin_checkpoint(NOW).run()
    assert b"a 0 1" in fs.read_file(f"{PATH}/recovery-point-offset-checkpoint")


@pytest.mark.parametrize("content", [None, b"", b"version: 0\ntopic_id"])
def test_directory_whose_making_was_interrupted_is_completed(content: bytes | None) -> None:
    fs = disk()
    directory = open_directory(fs)
    fs.make_directory(f"{PATH}/a-0")
    if content is not None:
        fs.open(f"{PATH}/a-0/partition.metadata", create=True).write(0, [content])
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    fs.power_loss()
    (log,) = opened(open_directory(fs), spec(A))
    assert log.log_end_offset == 1


def test_deleted_log_is_out_of_sight_at_once_and_off_the_disk_later() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    job = directory.begin_delete([A], NOW)
    job.run()
    directory.finish_delete(job)
    assert directory.logs == {}
    (name,) = partition_names(fs)
    assert name.startswith("a-0.")
    assert name.endswith("-delete")
    assert directory.begin_removal(Millis(NOW + 59_999)) is None
    removal = directory.begin_removal(Millis(NOW + 60_000))
    assert removal is not None
    removal.run()
    assert partition_names(fs) == []
    assert directory.begin_removal(Millis(NOW + 90_000)) is None


def test_deletion_is_durable_when_its_job_has_run() -> None:
    for seed in range(10):
        fs = disk(seed)
        directory = open_directory(fs)
        opened(directory, spec(A), spec(B))
        directory.begin_delete([A, B], NOW).run()
        fs.power_loss()
        assert all(name.endswith("-delete") for name in partition_names(fs))


def test_deletion_that_was_interrupted_is_finished_by_the_next_process() -> None:
    fs = disk()
    directory = open_directory(fs)
    opened(directory, spec(A))
    directory.begin_delete([A], NOW).run()
    fs.power_loss()
    again = open_directory(fs)
    loaded(again)
    removal = again.begin_removal(NOW)
    assert removal is not None
    removal.run()
    assert partition_names(fs) == []


def test_checkpoint_is_due_after_time_or_bytes() -> None:
    directory = open_directory(disk())
    (log,) = opened(directory, spec(A))
    assert not directory.is_checkpoint_due(Millis(NOW + CHECKPOINT_INTERVAL_MS - 1))
    assert directory.is_checkpoint_due(Millis(NOW + CHECKPOINT_INTERVAL_MS))
    directory.record_flushed(log, CHECKPOINT_INTERVAL_BYTES)
    assert directory.is_checkpoint_due(NOW)
    directory.begin_checkpoint(NOW).run()
    assert not directory.is_checkpoint_due(NOW)


def test_checkpoint_saves_the_next_start_from_reading_what_was_durable() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"x" * 1000)
    directory.begin_checkpoint(NOW, {A: Offset(1), B: Offset(9)}).run()
    append(directory, log, b"y")
    fs.crash()
    again = open_directory(fs)
    (log,) = opened(again, spec(A))
    assert log.log_end_offset == 2
    assert 0 < log.recovery_report.scanned_bytes < 1000
    assert again.high_watermark(A) == 1
    assert again.high_watermark(B) is None


def test_log_cut_after_lowering_is_not_taken_for_damaged() -> None:
    for seed in range(20):
        fs = disk(seed)
        directory = open_directory(fs)
        (log,) = opened(directory, spec(A))
        append(directory, log, b"one")
        append(directory, log, b"two")
        late = directory.begin_checkpoint(NOW)
        directory.begin_checkpoint(NOW).run()
        directory.seal.flush()
        job = directory.begin_lower(log, Offset(1))
        job.run()
        late.run()
        directory.begin_checkpoint(NOW).run()
        directory.record_flushed(log, 0)
        directory.seal.flush()
        log.truncate(1)
        directory.finish_lower(job)
        fs.power_loss()
        (log,) = opened(open_directory(fs), spec(A))
        assert (log.log_end_offset, log.is_offline) == (1, False)


def test_log_vouches_for_itself_again_after_the_cut() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    append(directory, log, b"two")
    job = directory.begin_lower(log, Offset(1))
    job.run()
    log.truncate(1)
    directory.finish_lower(job)
    append(directory, log, b"three")
    directory.begin_checkpoint(NOW).run()
    assert fs.read_file(f"{PATH}/recovery-point-offset-checkpoint") == b"0\n1\na 0 2\n"


def test_clean_stop_does_not_vouch_for_a_log_whose_cut_was_given_up() -> None:
    fs = disk()
    directory = open_directory(fs)
    cut, other = opened(directory, spec(A), spec(B, 2))
    for log in (cut, other):
        append(directory, log, b"one")
        append(directory, log, b"two")
    directory.begin_lower(cut, Offset(1)).run()
    assert cut.begin_truncate(1) is not None
    cut.give_up_cut()
    close(directory)
    again = open_directory(fs)
    jobs = loaded(again, spec(A), spec(B, 2)).jobs
    assert [job.is_vouched_for for job in jobs] == [False, True]
    assert [log.log_end_offset for log in again.logs.values()] == [2, 2]
    assert not any(log.is_offline for log in again.logs.values())


def test_name_of_a_deleted_log_is_not_held_to_the_cut_that_was_given_up() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    append(directory, log, b"one")
    directory.begin_lower(log, Offset(0)).run()
    assert log.begin_restart(0) is not None
    log.give_up_cut()
    directory.begin_delete([A], NOW).run()
    (log,) = opened(directory, spec(A, 2))
    append(directory, log, b"one")
    directory.begin_checkpoint(NOW).run()
    assert fs.read_file(f"{PATH}/recovery-point-offset-checkpoint") == b"0\n1\na 0 1\n"


def test_seals_of_partitions_that_are_gone_are_freed_by_a_full_load() -> None:
    fs = disk()
    directory = open_directory(fs)
    for log in opened(directory, spec(A, 1), spec(B, 2)):
        append(directory, log, b"one")
    directory.seal.flush()
    directory.abandon()
    again = open_directory(fs)
    loaded(again, spec(B, 2))
    again.seal.flush()
    assert fs.read_file(f"{PATH}/durable-offsets").count(topic_id(1)) == 0
    assert fs.read_file(f"{PATH}/durable-offsets").count(topic_id(2)) == 1


def test_flush_of_a_deleted_log_is_not_sealed() -> None:
    fs = disk()
    directory = open_directory(fs)
    (log,) = opened(directory, spec(A))
    directory.begin_delete([A], NOW).run()
    log.recovery_point = Offset(5)
    directory.record_flushed(log, 100)
    directory.seal.flush()
    assert fs.read_file(f"{PATH}/durable-offsets").count(topic_id(1)) == 0


def test_usage_tells_the_disks_room() -> None:
    fs = disk()
    directory = open_directory(fs)
    assert directory.usage().total_bytes == fs.capacity_bytes
    assert fs.size(f"{PATH}/reserve") == 4096
