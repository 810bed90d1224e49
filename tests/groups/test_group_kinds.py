"""A shard keeps groups of other kinds beside classic ones, and asks them what only they know."""

from dataclasses import dataclass

import pytest
from tests.groups.shell import Shell

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome, answer
from penstock.groups.group import Committer, Group, GroupKind
from penstock.groups.timers import DeadlineKind, GroupDeadline
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

MARKER = CoordinatorRecord(key=b"\x00\x63", value=None)


@dataclass
class ShareLikeGroup:
    """A kind of group with one member at epoch 5."""

    group_id: str
    kind: GroupKind = GroupKind.SHARE
    state_name: str = "Stable"
    protocol_type: str | None = "share"
    member_count: int = 1
    is_empty: bool = False
    is_abandoned: bool = False
    is_void: bool = False
    is_decided: bool = False
    expired: int = 0

    def serve(self, event: RequestReceived, now: Millis) -> Outcome:
        return answer(event.token, HeartbeatResponse(error_code=ErrorCode.FENCED_MEMBER_EPOCH))

    def expire(self, deadline: GroupDeadline, now: Millis) -> Outcome:
        self.expired += 1
        return NOTHING

    def loaded(self, now: Millis) -> Outcome:
        return NOTHING

    def unload(self, code: ErrorCode) -> Outcome:
        return NOTHING

    def check_offset_commit(self, committer: Committer) -> None:
        if committer.generation_or_epoch != 5:
            raise ApiError(ErrorCode.STALE_MEMBER_EPOCH)

    def note_offset_commit(self, committer: Committer, now: Millis) -> None:
        pass

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_epoch != 5:
            raise ApiError(ErrorCode.STALE_MEMBER_EPOCH)

    def check_offset_delete(self) -> None:
        pass

    def check_deletable(self) -> None:
        raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        return True

    def retention_start(self, commit_timestamp: int) -> int | None:
        return commit_timestamp

    def hard_state(self) -> object:
        return None

    def tombstones(self) -> tuple[CoordinatorRecord, ...]:
        return (MARKER,)

    def validate(self) -> None:
        pass


@pytest.fixture
def shell() -> Shell:
    shell = Shell()
    group: Group = ShareLikeGroup("shared")
    shell.shard._state.groups["shared"] = group
    return shell


def test_groups_of_every_kind_are_listed(shell: Shell) -> None:
    listed = ListedGroup(group_id="shared", protocol_type="share", group_state="Stable", group_type="share")
    for types in ((), ("Share",)):
        response = shell.ask(ListGroupsResponse, ListGroupsRequest(types_filter=types), version=5)
        assert response.groups == (listed,)


def test_group_of_another_kind_cannot_be_described_as_a_classic_one(shell: Shell) -> None:
    request = DescribeGroupsRequest(groups=("shared",))
    (group,) = shell.ask(DescribeGroupsResponse, request, version=6).groups
    assert group.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert group.error_message == "Group shared is not a classic group."


def test_requests_of_members_reach_their_group(shell: Shell) -> None:
    request = HeartbeatRequest(group_id="shared")
    response = shell.ask(HeartbeatResponse, request, version=4)
    assert response.error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_group_of_another_kind_does_not_become_a_consumer_group(shell: Shell) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="shared",
        member_id="ann",
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=("orders",),
        topic_partitions=(),
    )
    response = shell.ask(ConsumerGroupHeartbeatResponse, request, version=1)
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_deadlines_reach_their_group(shell: Shell) -> None:
    for group_id in ("shared", "nobody"):
        shell.shard._deadlines.set(GroupDeadline(DeadlineKind.SESSION, group_id, "ann"), Millis(shell.now))
    shell.wait(0)
    group = shell.shard._state.groups["shared"]
    assert isinstance(group, ShareLikeGroup)
    assert group.expired == 1


@pytest.mark.parametrize(("epoch", "code"), [(5, ErrorCode.NONE), (4, ErrorCode.STALE_MEMBER_EPOCH)])
def test_group_decides_who_commits_and_fetches(shell: Shell, epoch: int, code: ErrorCode) -> None:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    commit = OffsetCommitRequest(
        group_id="shared",
        generation_id_or_member_epoch=epoch,
        topics=(OffsetCommitRequestTopic(name="orders", partitions=(partition,)),),
    )
    committed = shell.ask(OffsetCommitResponse, commit, version=9)
    assert committed.topics[0].partitions[0].error_code == code
    wanted = OffsetFetchRequestGroup(group_id="shared", member_id="ann", member_epoch=epoch, topics=None)
    fetched = shell.ask(OffsetFetchResponse, OffsetFetchRequest(groups=(wanted,)), version=9)
    assert fetched.groups[0].error_code == code


def test_producers_are_told_of_generations_whatever_the_kind(shell: Shell) -> None:
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    request = TxnOffsetCommitRequest(
        transactional_id="copy",
        group_id="shared",
        producer_id=7,
        generation_id=4,
        topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(partition,)),),
    )
    response = shell.ask(TxnOffsetCommitResponse, request, version=3)
    assert response.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION


def test_group_decides_whether_it_can_be_deleted(shell: Shell) -> None:
    request = DeleteGroupsRequest(groups_names=("shared",))
    (result,) = shell.ask(DeleteGroupsResponse, request, version=2).results
    assert result.error_code == ErrorCode.NON_EMPTY_GROUP
