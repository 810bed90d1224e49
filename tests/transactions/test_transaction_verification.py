"""The leaders' part of transactions."""

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.transactions.verification import (
    MarkerVerdict,
    Verifications,
    check_first_sequence,
    is_offset_verify_only,
    is_verify_only,
    judge_marker,
    offset_error,
    produce_error,
)
from penstock.transactions.version import TransactionVersion

TV1, TV2 = TransactionVersion.TV1, TransactionVersion.TV2


def refused(verifications: Verifications, epoch: int, guard: int, *, produce_version: int = 11) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        verifications.check(7, epoch, guard, produce_version=produce_version)
    return caught.value.code


def test_batch_may_be_appended_while_its_guard_stands() -> None:
    verifications = Verifications()
    guard = verifications.begin(7, 0)
    verifications.check(7, 0, guard, produce_version=11)


def test_batches_in_flight_together_share_a_guard() -> None:
    verifications = Verifications()
    assert verifications.begin(7, 0) == verifications.begin(7, 0)
    assert verifications.begin(8, 0) != verifications.begin(7, 0)


@pytest.mark.parametrize(
    ("produce_version", "expected"),
    [(10, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE)],
)
def test_marker_between_question_and_answer_keeps_the_batch_out(
    produce_version: int, expected: ErrorCode
) -> None:
    verifications = Verifications()
    guard = verifications.begin(7, 0)
    verifications.end_by_marker(7, 0, TV1)
    assert refused(verifications, 0, guard, produce_version=produce_version) is expected
    assert verifications.begin(7, 0) != guard


def test_late_marker_lets_the_next_transaction_of_the_second_protocol_begin() -> None:
    """It reaches this partition after the producer, to whom the coordinator has given the next epoch."""
    verifications = Verifications()
    guard = verifications.begin(7, 1)
    verifications.end_by_marker(7, 1, TV2)
    verifications.check(7, 1, guard, produce_version=12)
    verifications.end_by_marker(7, 2, TV2)
    assert refused(verifications, 1, guard, produce_version=12) is ErrorCode.TRANSACTION_ABORTABLE


def test_guard_of_an_old_epoch_does_not_stand_for_the_next() -> None:
    verifications = Verifications()
    old = verifications.begin(7, 0)
    verifications.begin(7, 1)
    assert refused(verifications, 0, old) is ErrorCode.TRANSACTION_ABORTABLE
    with pytest.raises(ApiError, match="epoch 1 has taken over") as caught:
        verifications.begin(7, 0)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_oldest_guards_are_lost_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.transactions.verification.VERIFICATIONS_PER_PARTITION_MAX", 2)
    verifications = Verifications()
    lost = verifications.begin(7, 0)
    verifications.begin(8, 0)
    verifications.begin(9, 0)
    assert len(verifications) == 2
    assert refused(verifications, 0, lost) is ErrorCode.TRANSACTION_ABORTABLE


@pytest.mark.parametrize(("produce_version", "expected"), [(11, True), (12, False)])
def test_leader_adds_the_partition_for_the_second_protocol_only(produce_version: int, expected: bool) -> None:
    assert is_verify_only(produce_version) is expected


@pytest.mark.parametrize(
    ("code", "produce_version", "expected"),
    [
        (ErrorCode.TRANSACTION_ABORTABLE, 10, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.INVALID_TXN_STATE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.PRODUCER_FENCED, 12, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 9, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 12, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 12, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.NONE, 12, ErrorCode.NONE),
    ],
)
def test_coordinator_s_word_in_the_producer_s_language(
    code: ErrorCode, produce_version: int, expected: ErrorCode
) -> None:
    assert produce_error(code, produce_version) is expected


@pytest.mark.parametrize(
    ("known_epoch", "version", "expected"),
    [
        (None, TV1, MarkerVerdict.APPEND),
        (None, TV2, MarkerVerdict.APPEND),
        (4, TV1, MarkerVerdict.APPEND),
        (4, TV2, MarkerVerdict.APPEND),
        (5, TV1, MarkerVerdict.APPEND),
        (5, TV2, MarkerVerdict.ALREADY_WRITTEN),
    ],
)
def test_marker_of_a_present_epoch(
    known_epoch: int | None, version: TransactionVersion, expected: MarkerVerdict
) -> None:
    assert judge_marker(marker_epoch=5, known_epoch=known_epoch, version=version) is expected


@pytest.mark.parametrize("version", [TV1, TV2])
def test_marker_of_a_former_epoch_is_refused(version: TransactionVersion) -> None:
    with pytest.raises(ApiError, match="epoch 6 has taken over") as caught:
        judge_marker(marker_epoch=5, known_epoch=6, version=version)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_only_the_lowest_sequence_seen_may_open_the_transaction() -> None:
    verifications = Verifications()
    guard = verifications.begin(7, 0, sequence=5)
    assert verifications.begin(7, 0, sequence=3) == guard
    with pytest.raises(ApiError, match="3 comes before it") as caught:
        verifications.check(7, 0, guard, produce_version=11, sequence=5)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    verifications.check(7, 0, guard, produce_version=11, sequence=3)


def test_sequences_that_wrap_round_keep_their_order() -> None:
    verifications = Verifications()
    guard = verifications.begin(7, 0, sequence=2**31 - 2)
    verifications.begin(7, 0, sequence=1)
    verifications.check(7, 0, guard, produce_version=11, sequence=2**31 - 2)
    with pytest.raises(ApiError, match="comes before it"):
        verifications.check(7, 0, guard, produce_version=11, sequence=1)


def test_new_epoch_forgets_the_sequences_of_the_old() -> None:
    verifications = Verifications()
    verifications.begin(7, 0, sequence=0)
    guard = verifications.begin(7, 1, sequence=4)
    verifications.check(7, 1, guard, produce_version=11, sequence=4)


@pytest.mark.parametrize(
    ("sequence", "is_known", "produce_version"), [(0, False, 12), (4, True, 12), (4, False, 11)]
)
def test_transaction_may_begin(sequence: int, is_known: bool, produce_version: int) -> None:
    check_first_sequence(7, sequence, is_known=is_known, produce_version=produce_version)


def test_unknown_producer_of_the_second_protocol_begins_at_zero() -> None:
    with pytest.raises(ApiError, match="sequence 4, not 0") as caught:
        check_first_sequence(7, 4, is_known=False, produce_version=12)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize(
    ("code", "offset_commit_version", "expected"),
    [
        (ErrorCode.NONE, 5, ErrorCode.NONE),
        (ErrorCode.NOT_COORDINATOR, 0, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_COORDINATOR, 3, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 4, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 5, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.PRODUCER_FENCED, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.TRANSACTION_ABORTABLE, 3, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, 4, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 3, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_coordinator_s_word_for_those_who_commit_offsets(
    code: ErrorCode, offset_commit_version: int, expected: ErrorCode
) -> None:
    assert offset_error(code, offset_commit_version) is expected


@pytest.mark.parametrize(
    ("offset_commit_version", "expected"),
    [(3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE)],
)
def test_marker_between_question_and_answer_keeps_offsets_out(
    offset_commit_version: int, expected: ErrorCode
) -> None:
    verifications = Verifications()
    guard = verifications.begin(7, 0)
    verifications.check_offsets(7, 0, guard, offset_commit_version=offset_commit_version)
    verifications.end(7)
    with pytest.raises(ApiError) as caught:
        verifications.check_offsets(7, 0, guard, offset_commit_version=offset_commit_version)
    assert caught.value.code is expected


@pytest.mark.parametrize(("offset_commit_version", "expected"), [(4, True), (5, False)])
def test_group_coordinator_adds_its_partition_for_the_second_protocol_only(
    offset_commit_version: int, expected: bool
) -> None:
    assert is_offset_verify_only(offset_commit_version) is expected
