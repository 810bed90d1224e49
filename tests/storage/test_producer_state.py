import pytest
from tests.storage.log_testing import make_batch

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.records.batch import SEQUENCE_MAX, BatchHeader, read_header
from penstock.records.control import TransactionMarker
from penstock.storage.producer_state import BatchTrace, CompletedTransaction, ProducerStates


def batch(
    sequence: int, *, count: int = 1, epoch: int = 0, producer_id: int = 7, transactional: bool = False
) -> BatchHeader:
    values = [b"v"] * count
    producer = (producer_id, epoch, sequence)
    return read_header(make_batch(*values, producer=producer, transactional=transactional))


def marker(
    *, producer_id: int = 7, epoch: int = 0, coordinator_epoch: int = 0, is_commit: bool = True
) -> TransactionMarker:
    return TransactionMarker(
        is_commit=is_commit,
        coordinator_epoch=coordinator_epoch,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


def append(states: ProducerStates, header: BatchHeader, offset: int) -> BatchTrace | None:
    duplicate = states.check(header)
    if duplicate is None:
        states.apply(header, offset)
    return duplicate


def refusal(states: ProducerStates, header: BatchHeader) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        states.check(header)
    return caught.value.code


def test_unknown_producer_may_begin_at_any_sequence() -> None:
    states = ProducerStates()
    assert append(states, batch(41), 0) is None
    assert append(states, batch(42), 1) is None


def test_gap_is_refused() -> None:
    states = ProducerStates()
    append(states, batch(0, count=3), 0)
    assert refusal(states, batch(4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_retry_of_the_last_five_batches_is_recognised_and_of_the_sixth_is_not() -> None:
    states = ProducerStates()
    for number in range(6):
        append(states, batch(number * 2, count=2), 100 + number * 2)
    for number in range(1, 6):
        duplicate = states.check(batch(number * 2, count=2))
        assert duplicate is not None
        assert (duplicate.base_offset, duplicate.last_offset) == (100 + number * 2, 101 + number * 2)
    assert refusal(states, batch(0, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_same_first_sequence_with_another_length_is_no_retry() -> None:
    states = ProducerStates()
    append(states, batch(0, count=3), 0)
    assert refusal(states, batch(0, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequence_wraps_to_zero_after_the_largest() -> None:
    states = ProducerStates()
    append(states, batch(SEQUENCE_MAX - 1, count=2), 0)
    assert append(states, batch(0), 2) is None
    states = ProducerStates()
    append(states, batch(SEQUENCE_MAX, count=3), 0)
    duplicate = states.check(batch(SEQUENCE_MAX, count=3))
    assert duplicate is not None
    assert duplicate.last_sequence == 1
    assert append(states, batch(2), 3) is None


def test_lower_epoch_is_fenced() -> None:
    states = ProducerStates()
    append(states, batch(0, epoch=3), 0)
    assert refusal(states, batch(1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_higher_epoch_begins_at_zero_and_forgets_the_old_batches() -> None:
    states = ProducerStates()
    append(states, batch(0), 0)
    assert refusal(states, batch(1, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(states, batch(0, epoch=1), 1) is None
    producer = states.get(7)
    assert producer is not None
    assert len(producer.batches) == 1
    assert refusal(states, batch(1)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_producers_are_told_apart() -> None:
    states = ProducerStates()
    append(states, batch(0), 0)
    assert append(states, batch(5, producer_id=8), 1) is None
    assert len(states) == 2


def test_silent_producer_expires_unless_its_transaction_is_open() -> None:
    states = ProducerStates()
    append(states, batch(0), 0)
    append(states, batch(0, producer_id=8, transactional=True), 1)
    assert states.expire(now=1_999, expiration_ms=1_000) == 0
    assert states.expire(now=2_000, expiration_ms=1_000) == 1
    assert states.get(7) is None
    assert states.get(8) is not None


def test_least_recently_heard_of_producer_makes_room() -> None:
    states = ProducerStates(capacity=2)
    append(states, batch(0, producer_id=1), 0)
    append(states, batch(0, producer_id=2), 1)
    append(states, batch(1, producer_id=1), 2)
    append(states, batch(0, producer_id=3), 3)
    assert [producer.producer_id for producer in states] == [1, 3]


def test_producer_with_open_transaction_is_not_forgotten_for_another() -> None:
    states = ProducerStates(capacity=1)
    append(states, batch(0, producer_id=1, transactional=True), 0)
    with pytest.raises(ApiError) as caught:
        append(states, batch(0, producer_id=2), 1)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert states.get(1) is not None


def test_open_transaction_holds_the_stable_offset_until_its_marker_is_below_the_high_watermark() -> None:
    states = ProducerStates()
    append(states, batch(0, transactional=True), 10)
    append(states, batch(1, transactional=True), 11)
    assert states.first_unstable_offset == 10
    completed = states.apply_marker(marker(), offset=12, timestamp=5)
    assert completed == CompletedTransaction(7, 10, 12, False)
    assert states.first_unstable_offset == 10
    states.release_completed(12)
    assert states.first_unstable_offset == 10
    states.release_completed(13)
    assert states.first_unstable_offset is None


def test_transactions_that_end_in_another_order_hold_the_stable_offset_where_the_first_began() -> None:
    states = ProducerStates()
    append(states, batch(0, producer_id=1, transactional=True), 10)
    append(states, batch(0, producer_id=2, transactional=True), 11)
    states.apply_marker(marker(producer_id=2), offset=12, timestamp=5)
    states.apply_marker(marker(producer_id=1), offset=13, timestamp=5)
    assert states.first_unstable_offset == 10
    states.release_completed(13)
    assert states.first_unstable_offset == 10
    states.release_completed(14)
    assert states.first_unstable_offset is None


def test_marker_without_data_completes_nothing() -> None:
    states = ProducerStates()
    assert states.apply_marker(marker(is_commit=False), offset=0, timestamp=5) is None
    assert states.first_unstable_offset is None


def test_last_stable_offset_behind_a_marker_is_the_next_open_transaction() -> None:
    states = ProducerStates()
    append(states, batch(0, transactional=True), 10)
    append(states, batch(0, producer_id=8, transactional=True), 11)
    completed = states.apply_marker(marker(is_commit=False), offset=12, timestamp=5)
    assert completed is not None
    assert completed.is_aborted
    assert states.last_stable_offset_after(completed) == 11


def test_marker_of_a_fenced_epoch_or_coordinator_is_refused() -> None:
    states = ProducerStates()
    append(states, batch(0, epoch=2, transactional=True), 0)
    with pytest.raises(ApiError) as caught:
        states.check_marker(marker(epoch=1))
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    states.apply_marker(marker(epoch=2, coordinator_epoch=5), offset=1, timestamp=5)
    with pytest.raises(ApiError) as caught:
        states.check_marker(marker(epoch=2, coordinator_epoch=4))
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    states.check_marker(marker(epoch=2, coordinator_epoch=5))


def test_marker_of_a_higher_epoch_lets_the_next_batch_begin_at_zero() -> None:
    states = ProducerStates()
    append(states, batch(0, transactional=True), 0)
    states.apply_marker(marker(epoch=1), offset=1, timestamp=5)
    assert refusal(states, batch(1, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(states, batch(0, epoch=1, transactional=True), 2) is None
    assert states.first_unstable_offset == 0
