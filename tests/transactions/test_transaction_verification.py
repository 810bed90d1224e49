"""The leaders' part of transactions."""

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.transactions.verification import (
    MarkerVerdict,
    Verifications,
    is_verify_only,
    judge_marker,
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
    verifications.end(7)
    assert refused(verifications, 0, guard, produce_version=produce_version) is expected
    assert verifications.begin(7, 0) != guard


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
