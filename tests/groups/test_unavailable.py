import pytest

from penstock.groups.unavailable import refuse_after_failed_append, refuse_while_loading
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from penstock.wire.schema import Struct

COMMIT = OffsetCommitRequest(
    topics=(OffsetCommitRequestTopic(name="orders", partitions=(OffsetCommitRequestPartition(),)),)
)
TXN_COMMIT = TxnOffsetCommitRequest(
    topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(TxnOffsetCommitRequestPartition(),)),)
)


def code_of(response: Struct) -> int:
    if isinstance(response, OffsetCommitResponse | TxnOffsetCommitResponse):
        return response.topics[0].partitions[0].error_code
    code: int = getattr(response, "error_code", -99)
    return code


def test_heartbeats_are_taken_on_trust_while_loading() -> None:
    assert refuse_while_loading(HeartbeatRequest(), 4) == HeartbeatResponse()


def test_others_are_told_to_wait_while_loading() -> None:
    for request in (JoinGroupRequest(), COMMIT):
        assert code_of(refuse_while_loading(request, 5)) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.mark.parametrize(
    ("version", "code"),
    [(1, ErrorCode.COORDINATOR_NOT_AVAILABLE), (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)],
)
def test_producers_of_old_do_not_know_of_loading(version: int, code: ErrorCode) -> None:
    assert code_of(refuse_while_loading(TXN_COMMIT, version)) == code


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_errors_of_the_log_are_translated(failure: ErrorCode, code: ErrorCode) -> None:
    response = refuse_after_failed_append(SyncGroupRequest(), 5, failure)
    assert isinstance(response, SyncGroupResponse)
    assert response.error_code == code
    assert code_of(refuse_after_failed_append(TXN_COMMIT, 3, failure)) == code


def test_batch_that_is_too_large_is_an_offset_that_is_too_large() -> None:
    failure = ErrorCode.MESSAGE_TOO_LARGE
    for request in (COMMIT, TXN_COMMIT):
        refused = refuse_after_failed_append(request, 3, failure)
        assert code_of(refused) == ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    refused = refuse_after_failed_append(SyncGroupRequest(), 3, failure)
    assert code_of(refused) == ErrorCode.UNKNOWN_SERVER_ERROR
