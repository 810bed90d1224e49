"""How every request about groups is refused: the same error in the shape of its own answer.

Error answers carry every field of their version. The shell uses this too, for all that keeps a request from
reaching a shard: the wrong broker, a shard that is still loading, a log that cannot be written.
"""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from penstock.wire.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from penstock.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from penstock.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from penstock.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from penstock.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from penstock.wire.messages.offset_fetch import (
    NO_OFFSET_COMMITTED,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from penstock.wire.schema import Struct, replace

NULL_PROTOCOL_SINCE_VERSION = 7
"""Of JoinGroup: until then a protocol that does not exist has an empty name."""

GROUP_ERROR_SINCE_VERSION = 2
"""Of OffsetFetch: until then every partition carries the error."""

MANY_GROUPS_SINCE_VERSION = 8
"""Of OffsetFetch."""


def refuse(request: Struct, api_version: int, code: ErrorCode, message: str | None = None) -> Struct:
    """The answer that refuses a whole request; a message for people goes along where there is room."""
    refusal = _REFUSALS.get(type(request))
    if refusal is None:
        raise InvariantError(f"{type(request).__name__} is no request about groups")
    response = refusal(request, api_version, code)
    if message and isinstance(response, ConsumerGroupHeartbeatResponse):
        return replace(response, error_message=message)
    return response


def refused_join(code: ErrorCode, member_id: str, api_version: int) -> JoinGroupResponse:
    """No generation, no leader, no members."""
    has_null = api_version >= NULL_PROTOCOL_SINCE_VERSION
    return JoinGroupResponse(
        error_code=code, member_id=member_id, protocol_name=None if has_null else "", leader=""
    )


def refused_sync(code: ErrorCode) -> SyncGroupResponse:
    """No assignment."""
    return SyncGroupResponse(error_code=code)


def _join(request: JoinGroupRequest, api_version: int, code: ErrorCode) -> Struct:
    return refused_join(code, request.member_id, api_version)


def _sync(request: SyncGroupRequest, api_version: int, code: ErrorCode) -> Struct:
    return refused_sync(code)


def _heartbeat(request: HeartbeatRequest, api_version: int, code: ErrorCode) -> Struct:
    return HeartbeatResponse(error_code=code)


def _leave(request: LeaveGroupRequest, api_version: int, code: ErrorCode) -> Struct:
    return LeaveGroupResponse(error_code=code)


def _offset_commit(request: OffsetCommitRequest, api_version: int, code: ErrorCode) -> Struct:
    return OffsetCommitResponse(
        topics=tuple(
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=tuple(
                    OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _txn_offset_commit(request: TxnOffsetCommitRequest, api_version: int, code: ErrorCode) -> Struct:
    return TxnOffsetCommitResponse(
        topics=tuple(
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=tuple(
                    TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _offset_fetch(request: OffsetFetchRequest, api_version: int, code: ErrorCode) -> Struct:
    if api_version >= MANY_GROUPS_SINCE_VERSION:
        groups = [
            OffsetFetchResponseGroup(group_id=each.group_id, error_code=code) for each in request.groups
        ]
        return OffsetFetchResponse(groups=tuple(groups))
    if api_version >= GROUP_ERROR_SINCE_VERSION:
        return OffsetFetchResponse(error_code=code)
    return OffsetFetchResponse(
        topics=tuple(
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=tuple(
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=NO_OFFSET_COMMITTED, error_code=code
                    )
                    for index in topic.partition_indexes
                ),
            )
            for topic in request.topics or ()
        )
    )


def _offset_delete(request: OffsetDeleteRequest, api_version: int, code: ErrorCode) -> Struct:
    return OffsetDeleteResponse(error_code=code)


def _describe(request: DescribeGroupsRequest, api_version: int, code: ErrorCode) -> Struct:
    groups = [DescribedGroup(group_id=group_id, error_code=code) for group_id in request.groups]
    return DescribeGroupsResponse(groups=tuple(groups))


def _list(request: ListGroupsRequest, api_version: int, code: ErrorCode) -> Struct:
    return ListGroupsResponse(error_code=code)


def _consumer_heartbeat(request: ConsumerGroupHeartbeatRequest, api_version: int, code: ErrorCode) -> Struct:
    return ConsumerGroupHeartbeatResponse(error_code=code)


def _consumer_describe(request: ConsumerGroupDescribeRequest, api_version: int, code: ErrorCode) -> Struct:
    groups = [DescribedConsumerGroup(group_id=group_id, error_code=code) for group_id in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=tuple(groups))


def _delete(request: DeleteGroupsRequest, api_version: int, code: ErrorCode) -> Struct:
    results = [DeletableGroupResult(group_id=group_id, error_code=code) for group_id in request.groups_names]
    return DeleteGroupsResponse(results=tuple(results))


_REFUSALS: Mapping[type[Struct], Callable[[Any, int, ErrorCode], Struct]] = {
    JoinGroupRequest: _join,
    SyncGroupRequest: _sync,
    HeartbeatRequest: _heartbeat,
    LeaveGroupRequest: _leave,
    OffsetCommitRequest: _offset_commit,
    TxnOffsetCommitRequest: _txn_offset_commit,
    OffsetFetchRequest: _offset_fetch,
    OffsetDeleteRequest: _offset_delete,
    DescribeGroupsRequest: _describe,
    ListGroupsRequest: _list,
    DeleteGroupsRequest: _delete,
    ConsumerGroupHeartbeatRequest: _consumer_heartbeat,
    ConsumerGroupDescribeRequest: _consumer_describe,
}
