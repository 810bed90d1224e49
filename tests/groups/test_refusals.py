import pytest

from penstock.groups.refusals import refuse
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import encode_response
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_delete import OffsetDeleteRequest
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from penstock.wire.messages.sync_group import SyncGroupRequest
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.wire.schema import Struct

CODE = ErrorCode.NOT_COORDINATOR

REQUESTS: dict[ApiKey, Struct] = {
    ApiKey.JOIN_GROUP: JoinGroupRequest(group_id="g", member_id="ann"),
    ApiKey.SYNC_GROUP: SyncGroupRequest(group_id="g"),
    ApiKey.HEARTBEAT: HeartbeatRequest(group_id="g"),
    ApiKey.LEAVE_GROUP: LeaveGroupRequest(group_id="g"),
    ApiKey.OFFSET_COMMIT: OffsetCommitRequest(
        group_id="g",
        topics=(OffsetCommitRequestTopic(name="orders", partitions=(OffsetCommitRequestPartition(),)),),
    ),
    ApiKey.OFFSET_FETCH: OffsetFetchRequest(
        group_id="g",
        topics=(OffsetFetchRequestTopic(name="orders", partition_indexes=(0,)),),
        groups=(OffsetFetchRequestGroup(group_id="g"),),
    ),
    ApiKey.OFFSET_DELETE: OffsetDeleteRequest(group_id="g"),
    ApiKey.TXN_OFFSET_COMMIT: TxnOffsetCommitRequest(
        group_id="g",
        topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(TxnOffsetCommitRequestPartition(),)),),
    ),
    ApiKey.DESCRIBE_GROUPS: DescribeGroupsRequest(groups=("g",)),
    ApiKey.LIST_GROUPS: ListGroupsRequest(),
    ApiKey.DELETE_GROUPS: DeleteGroupsRequest(groups_names=("g",)),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: ConsumerGroupHeartbeatRequest(group_id="g"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: ConsumerGroupDescribeRequest(group_ids=("g",)),
}

EVERY_VERSION = [
    (key, version) for key in REQUESTS for version in range(APIS[key].min_version, APIS[key].max_version + 1)
]


def error_codes(value: object) -> list[int]:
    """Every error code anywhere in a message."""
    if isinstance(value, tuple):
        return [code for each in value for code in error_codes(each)]
    if not isinstance(value, Struct):
        return []
    own = [value.error_code] if hasattr(value, "error_code") else []
    return own + [code for name in type(value).fields for code in error_codes(getattr(value, name))]


@pytest.mark.parametrize(("key", "version"), EVERY_VERSION)
def test_every_refusal_carries_the_code_and_can_be_sent(key: ApiKey, version: int) -> None:
    response = refuse(REQUESTS[key], version, CODE)
    assert isinstance(response, APIS[key].response)
    assert CODE in error_codes(response)
    assert encode_response(key, version, 1, response)


def test_join_is_refused_with_the_id_it_came_with() -> None:
    response = refuse(REQUESTS[ApiKey.JOIN_GROUP], 9, CODE)
    assert getattr(response, "member_id", None) == "ann"


def test_offset_fetch_is_refused_by_partition_until_version_1_then_by_group() -> None:
    request = REQUESTS[ApiKey.OFFSET_FETCH]
    first, second, eighth = (refuse(request, version, CODE) for version in (1, 2, 8))
    assert isinstance(first, OffsetFetchResponse)
    assert first.topics[0].partitions[0].error_code == CODE
    assert isinstance(second, OffsetFetchResponse)
    assert (second.error_code, second.topics) == (CODE, ())
    assert isinstance(eighth, OffsetFetchResponse)
    assert eighth.groups[0].error_code == CODE


def test_other_requests_are_none_of_ours() -> None:
    with pytest.raises(InvariantError, match="InitProducerIdRequest"):
        refuse(InitProducerIdRequest(), 0, CODE)


def test_refusal_with_a_message_says_it_where_there_is_room() -> None:
    request = ConsumerGroupHeartbeatRequest(group_id="g")
    response = refuse(request, 1, CODE, "Ask somebody else.")
    assert response == ConsumerGroupHeartbeatResponse(error_code=CODE, error_message="Ask somebody else.")
    assert refuse(HeartbeatRequest(group_id="g"), 4, CODE, "Ask somebody else.") == HeartbeatResponse(
        error_code=CODE
    )
