import pytest
from tests.storage.log_testing import DIRECTORY, fill, make_batch, make_disk, make_log, open_log, put

from penstock.model.errors import InvariantError
from penstock.storage.log_config import LogConfig

CONFIG = LogConfig(index_interval_bytes=0)
INDEX = f"{DIRECTORY}/{0:020d}.index"
EPOCHS = f"{DIRECTORY}/leader-epoch-checkpoint"


def test_checkpoint_writes_indexes_and_epochs_once() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 5)
    assert not disk.exists(INDEX)
    job = log.begin_checkpoint()
    assert job is not None
    assert log.begin_checkpoint() is None
    job.run()
    log.finish_checkpoint(job)
    assert disk.size(INDEX) == 4 * 8
    assert disk.read_file(EPOCHS) == b"0\n1\n0 0\n"
    assert log.begin_checkpoint() is None
    fill(log, 2)
    job = log.begin_checkpoint()
    assert job is not None
    assert job.epochs is None
    job.run()
    log.finish_checkpoint(job)
    assert disk.size(INDEX) == 6 * 8


def test_failed_checkpoint_is_captured_again() -> None:
    log = make_log(make_disk(), CONFIG)
    fill(log, 5)
    job = log.begin_checkpoint()
    assert job is not None
    log.fail_checkpoint(job)
    again = log.begin_checkpoint()
    assert again is not None
    assert again.index_writes == job.index_writes
    assert again.epochs == job.epochs


def test_epoch_that_begins_while_a_checkpoint_runs_is_written_next_time() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 1)
    job = log.begin_checkpoint()
    assert job is not None
    put(log, make_batch(b"v"), leader_epoch=4)
    job.run()
    log.finish_checkpoint(job)
    log.flush()
    job = log.begin_checkpoint()
    assert job is not None
    job.run()
    assert disk.read_file(EPOCHS) == b"0\n2\n0 0\n4 1\n"


def test_close_leaves_everything_that_the_next_start_needs_durable() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    fill(log, 5)
    put(log, make_batch(b"v", timestamp=9_999, producer=(7, 0, 0)))
    log.close()
    disk.power_loss()
    again = open_log(disk, CONFIG, recovery_point=6, clean=True)
    assert again.recovery_report.was_clean
    assert again.largest_timestamp == 9_999
    producer = again.producers.get(7)
    assert producer is not None
    assert producer.next_sequence == 1
    assert disk.exists(f"{DIRECTORY}/{6:020d}.snapshot")


def test_close_before_flush_is_refused() -> None:
    log = make_log(make_disk(), CONFIG)
    put(log, make_batch(b"v"))
    with pytest.raises(InvariantError, match="before it is flushed"):
        log.begin_close()


def test_closed_log_takes_nothing_more() -> None:
    log = make_log(make_disk(), CONFIG)
    log.close()
    with pytest.raises(Exception, match="closed"):
        put(log, make_batch(b"v"))


def test_old_snapshots_that_belong_to_no_segment_go_at_the_next_start() -> None:
    disk = make_disk()
    log = make_log(disk, CONFIG)
    for _ in range(3):
        fill(log, 2)
        log.close()
        log = open_log(disk, CONFIG, recovery_point=log.recovery_point, clean=True)
    snapshots = [name for name in disk.list_directory(DIRECTORY) if name.endswith(".snapshot")]
    assert snapshots == [f"{6:020d}.snapshot"]


def test_close_makes_durable_what_checkpoints_only_wrote() -> None:
    for seed in range(10):
        disk = make_disk(seed)
        log = make_log(disk, CONFIG)
        fill(log, 20)
        job = log.begin_checkpoint()
        assert job is not None
        job.run()
        log.finish_checkpoint(job)
        log.close()
        disk.power_loss()
        assert disk.size(INDEX) == 19 * 8
        assert disk.size(INDEX.replace(".index", ".timeindex")) == 19 * 12
