"""What clients are told when a shard cannot serve them: it is loading, or what it decided cannot be written.

The log speaks of replicas and leaders; clients of a coordinator understand only that it is somewhere else
(look for it again), not there for the moment (try again), or that this request will never do.
"""

from collections.abc import Mapping
from types import MappingProxyType

from penstock.model.error_codes import ErrorCode
from penstock.transactions.responses import refusal
from penstock.wire.schema import Struct

_AFTER_FAILED_APPEND: Mapping[ErrorCode, ErrorCode] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
        ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
        ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)


def refuse_while_loading(request: Struct, api_version: int) -> Struct:
    """The answer while the shard's log is still being read."""
    return refusal(request, api_version, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def refuse_after_failed_append(request: Struct, api_version: int, failure: ErrorCode) -> Struct:
    """The answer when the record of a decision could not be appended, given the log's own error."""
    return refusal(request, api_version, _AFTER_FAILED_APPEND.get(failure, failure))
