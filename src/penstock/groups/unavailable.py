"""What clients are told when a shard cannot serve them: it is loading, or what it decided cannot be written.

The log speaks of replicas and leaders; clients of a coordinator understand only that it is somewhere else
(look for it again), not there for the moment (try again), or that this request will never do.
"""

from collections.abc import Mapping
from types import MappingProxyType

from penstock.groups.refusals import refuse
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest
from penstock.wire.schema import Struct

LOADING_SINCE_VERSION = 2
"""Of TxnOffsetCommit: producers of old do not know that a coordinator loads."""

_AFTER_FAILED_APPEND: Mapping[ErrorCode, ErrorCode] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
        ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    }
)
_TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})
_OFFSET_COMMITS = (OffsetCommitRequest, TxnOffsetCommitRequest)


def refuse_while_loading(request: Struct, api_version: int) -> Struct:
    """The answer while the shard's log is still being read.

    Heartbeats are taken on trust: sessions begin anew when all is loaded.
    """
    if isinstance(request, HeartbeatRequest):
        return HeartbeatResponse()
    is_old = isinstance(request, TxnOffsetCommitRequest) and api_version < LOADING_SINCE_VERSION
    code = ErrorCode.COORDINATOR_NOT_AVAILABLE if is_old else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return refuse(request, api_version, code)


def refuse_after_failed_append(request: Struct, api_version: int, failure: ErrorCode) -> Struct:
    """The answer when the records of a decision could not be appended, given the log's own error."""
    return refuse(request, api_version, _translate(request, failure))


def _translate(request: Struct, failure: ErrorCode) -> ErrorCode:
    if failure in _TOO_LARGE:
        is_commit = isinstance(request, _OFFSET_COMMITS)
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE if is_commit else ErrorCode.UNKNOWN_SERVER_ERROR
    return _AFTER_FAILED_APPEND.get(failure, failure)
