"""One log on one disk: what is durable, and whose batches are taken.

Chance decides what a disk keeps of that which was not flushed, so stories about it are told on several disks.
"""

from collections.abc import Callable

from tests.scenarios.cluster.story import about, story
from tests.storage.log_testing import (
    DIRECTORY,
    fill,
    make_batch,
    make_disk,
    make_log,
    open_log,
    put,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, FlushFailedError
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.storage.log import Log

DISKS = range(20)


def end_marker(*, coordinator_epoch: int, is_commit: bool) -> bytearray:
    """The end of a transaction of producer 7."""
    marker = TransactionMarker(
        is_commit=is_commit, coordinator_epoch=coordinator_epoch, producer_id=7, producer_epoch=0
    )
    return build_transaction_marker(marker, timestamp=1_000)


def refusal(append: Callable[[], object]) -> ErrorCode:
    """Why a log does not take something; NONE if it does."""
    try:
        append()
    except ApiError as error:
        return error.code
    return ErrorCode.NONE


def promised_end(log: Log) -> int:
    """Up to where a log is said to be durable once it was told to flush."""
    try:
        log.flush()
    except FlushFailedError:
        return 0
    return log.flushed_offset


@about("ack-before-flush", breaks="was called durable, and lost")
@story
def power_is_lost_after_a_flush() -> None:
    """What a flush has made durable is there when the power comes back."""
    for seed in DISKS:
        disk = make_disk(seed)
        log = make_log(disk)
        put(log, make_batch(b"safe"))
        log.flush()
        disk.power_loss()
        assert open_log(disk).log_end_offset == 1, "a batch was called durable, and lost"


@about("flush-retried", breaks="was called durable, and lost")
@story
def flush_fails_once() -> None:
    """The pages of a failed flush count as clean: the next one succeeds, and has written nothing."""
    for seed in DISKS:
        disk = make_disk(seed)
        log = make_log(disk)
        put(log, make_batch(b"unlucky"))
        disk.fail_flush(".log")
        promised = promised_end(log)
        disk.power_loss()
        assert open_log(disk).log_end_offset >= promised, "a batch was called durable, and lost"


@about("page-cache-trusted", breaks="was served after a start, and lost")
@story
def start_finds_what_only_the_page_cache_has() -> None:
    """A process died between write and flush: the next one serves the batch, so it must outlive the power."""
    for seed in DISKS:
        disk = make_disk(seed)
        log = make_log(disk)
        put(log, make_batch(b"written, not flushed"))
        job = log.begin_flush()
        assert job is not None
        job.write()
        disk.crash()
        assert open_log(disk).log_end_offset == 1
        disk.power_loss()
        assert open_log(disk).log_end_offset == 1, "a batch was served after a start, and lost"


@about("directories-unsynced", breaks="the name of a log was lost")
@story
def log_is_made_and_the_power_is_lost() -> None:
    """Flushed bytes are worth nothing in a file whose name is gone."""
    for seed in DISKS:
        disk = make_disk(seed)
        log = make_log(disk)
        fill(log, 2)
        disk.power_loss()
        assert disk.exists(DIRECTORY), "the name of a log was lost"
        assert open_log(disk).log_end_offset == 2, "the name of a log was lost"


@about("sequences-unchecked", breaks="a retry is stored twice")
@story
def producer_hears_no_answer_and_sends_again() -> None:
    log = make_log(make_disk())
    first = put(log, make_batch(b"once", producer=(7, 0, 0)))
    again = put(log, make_batch(b"once", producer=(7, 0, 0)))
    assert again.is_duplicate, "a retry is stored twice"
    assert again.base_offset == first.base_offset


@about("producers-not-replayed", breaks="a retry is stored twice")
@story
def producer_hears_no_answer_and_the_broker_starts_again() -> None:
    disk = make_disk()
    log = make_log(disk)
    put(log, make_batch(b"once", producer=(7, 0, 0)))
    log.flush()
    disk.crash()
    again = put(open_log(disk, recovery_point=1), make_batch(b"once", producer=(7, 0, 0)))
    assert again.is_duplicate, "a retry is stored twice"


@about("epochs-unchecked", breaks="a batch of a fenced producer is taken")
@story
def producer_is_replaced_and_speaks_on() -> None:
    """A process that is taken for dead has a successor of a higher epoch; whatever it still sends is void."""
    log = make_log(make_disk())
    put(log, make_batch(b"former", producer=(7, 0, 0)))
    put(log, make_batch(b"successor", producer=(7, 1, 0)))
    code = refusal(lambda: put(log, make_batch(b"zombie", producer=(7, 0, 1))))
    assert code is ErrorCode.INVALID_PRODUCER_EPOCH, "a batch of a fenced producer is taken"


@about("markers-of-any-coordinator", breaks="a former coordinator ends a transaction that is not its own")
@story
def former_coordinator_repeats_its_order() -> None:
    """Its successor has carried the order out, and the producer has begun its next transaction."""
    log = make_log(make_disk())
    put(log, make_batch(b"first", producer=(7, 0, 0), transactional=True))
    put(log, end_marker(coordinator_epoch=2, is_commit=False), is_client=False)
    put(log, make_batch(b"second", producer=(7, 0, 1), transactional=True))
    late = end_marker(coordinator_epoch=1, is_commit=False)
    code = refusal(lambda: put(log, late, is_client=False))
    assert code is ErrorCode.TRANSACTION_COORDINATOR_FENCED, (
        "a former coordinator ends a transaction that is not its own"
    )
    assert log.producers.first_unstable_offset is not None


STORIES = (
    power_is_lost_after_a_flush,
    flush_fails_once,
    start_finds_what_only_the_page_cache_has,
    log_is_made_and_the_power_is_lost,
    producer_hears_no_answer_and_sends_again,
    producer_hears_no_answer_and_the_broker_starts_again,
    producer_is_replaced_and_speaks_on,
    former_coordinator_repeats_its_order,
)
