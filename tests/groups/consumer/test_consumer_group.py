"""What a shard asks of a consumer group: offsets, administration, and what people see of it."""

import pytest
from tests.groups.actors import GROUP, Actor
from tests.groups.modern import Modern, ledger_of, settle
from tests.groups.shell import FixedTopics, Shell

from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicId
from penstock.wire.messages.consumer_group_describe import (
    CLASSIC_MEMBER,
    CONSUMER_MEMBER,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)


@pytest.fixture
def shell() -> Shell:
    return Shell()


def pair(shell: Shell) -> tuple[Modern, Modern]:
    """Two members at epoch 2 with two partitions each."""
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    settle(ann, bob)
    assert (ann.numbers(), bob.numbers()) == ([0, 1], [2, 3])
    return ann, bob


def test_member_commits_at_its_epoch(shell: Shell) -> None:
    ann, _ = pair(shell)
    assert ann.commit(5) == ErrorCode.NONE
    assert ann.commit(5, epoch=3) == ErrorCode.STALE_MEMBER_EPOCH
    assert ann.commit(5, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert ann.commit(5, epoch=-1) == ErrorCode.STALE_MEMBER_EPOCH
    assert Modern(shell, "cal").commit(5, epoch=2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert Modern(shell, "").commit(5, epoch=-1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_member_at_an_older_epoch_commits_what_it_has_held_since_then(shell: Shell) -> None:
    ann, bob = pair(shell)
    assert ann.commit(5, epoch=1, partition=0) == ErrorCode.NONE
    assert ann.commit(5, epoch=1, partition=2) == ErrorCode.STALE_MEMBER_EPOCH
    assert bob.commit(5, epoch=1, partition=2) == ErrorCode.STALE_MEMBER_EPOCH


def test_outsider_commits_while_there_are_no_members(shell: Shell) -> None:
    ann, bob = pair(shell)
    assert Modern(shell, "").commit(1, epoch=-1) == ErrorCode.UNKNOWN_MEMBER_ID
    ann.leave()
    bob.leave()
    assert Modern(shell, "").commit(1, epoch=-1) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("member_id", "epoch", "code"),
    [
        ("ann", 2, ErrorCode.NONE),
        ("ann", 1, ErrorCode.STALE_MEMBER_EPOCH),
        ("nobody", 2, ErrorCode.UNKNOWN_MEMBER_ID),
        (None, -1, ErrorCode.NONE),
        (None, 2, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_member_fetches_at_its_epoch(
    shell: Shell, member_id: str | None, epoch: int, code: ErrorCode
) -> None:
    pair(shell)
    wanted = OffsetFetchRequestGroup(
        group_id=GROUP,
        member_id=member_id,
        member_epoch=epoch,
        topics=(OffsetFetchRequestTopics(name="orders", partition_indexes=(0,)),),
    )
    response = shell.ask(OffsetFetchResponse, OffsetFetchRequest(groups=(wanted,)), version=9)
    assert response.groups[0].error_code == code


def test_classic_member_fetches_at_its_generation(shell: Shell) -> None:
    pair(shell)
    cal = Actor(shell, "cal")
    cal.join()
    cal.joined()
    for epoch, code in ((cal.generation, ErrorCode.NONE), (1, ErrorCode.ILLEGAL_GENERATION)):
        wanted = OffsetFetchRequestGroup(
            group_id=GROUP, member_id=cal.member_id, member_epoch=epoch, topics=None
        )
        response = shell.ask(OffsetFetchResponse, OffsetFetchRequest(groups=(wanted,)), version=9)
        assert response.groups[0].error_code == code


@pytest.mark.parametrize(
    ("member_id", "generation", "code"),
    [
        ("ann", 2, ErrorCode.NONE),
        ("ann", 3, ErrorCode.ILLEGAL_GENERATION),
        ("bob", 1, ErrorCode.ILLEGAL_GENERATION),
        ("nobody", 2, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", -1, ErrorCode.NONE),
    ],
)
def test_producer_commits_for_a_member_at_its_epoch(
    shell: Shell, member_id: str, generation: int, code: ErrorCode
) -> None:
    pair(shell)
    partition = TxnOffsetCommitRequestPartition(partition_index=2, committed_offset=1)
    request = TxnOffsetCommitRequest(
        transactional_id="copy",
        group_id=GROUP,
        producer_id=7,
        member_id=member_id,
        generation_id=generation,
        topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(partition,)),),
    )
    response = shell.ask(TxnOffsetCommitResponse, request, version=3)
    assert response.topics[0].partitions[0].error_code == code


def test_offsets_of_topics_that_nobody_reads_may_be_deleted(shell: Shell) -> None:
    pair(shell)
    request = OffsetDeleteRequest(
        group_id=GROUP,
        topics=tuple(
            OffsetDeleteRequestTopic(name=name, partitions=(OffsetDeleteRequestPartition(partition_index=0),))
            for name in ("orders", "payments")
        ),
    )
    response = shell.ask(OffsetDeleteResponse, request, version=0)
    assert response.error_code == ErrorCode.NONE
    codes = {topic.name: topic.partitions[0].error_code for topic in response.topics}
    assert codes == {"orders": ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, "payments": ErrorCode.NONE}


def test_group_with_members_cannot_be_deleted(shell: Shell) -> None:
    ann, bob = pair(shell)
    ann.commit(5)
    request = DeleteGroupsRequest(groups_names=(GROUP,))
    for _ in range(2):
        (result,) = shell.ask(DeleteGroupsResponse, request, version=2).results
        assert result.error_code == ErrorCode.NON_EMPTY_GROUP
        ann.leave()
    bob.leave()
    (result,) = shell.ask(DeleteGroupsResponse, request, version=2).results
    assert result.error_code == ErrorCode.NONE
    assert shell.shard.group_count == 0
    shell.crash()
    assert shell.shard.group_count == 0


def test_offsets_of_an_empty_group_are_forgotten_in_time_and_the_group_with_them() -> None:
    shell = Shell(settings=GroupSettings(offsets_retention_minutes=60))
    ann = Modern(shell, "ann")
    ann.beat()
    ann.commit(5)
    ann.leave()
    shell.wait(50 * 60_000)
    assert shell.shard.group_count == 1
    shell.wait(20 * 60_000)
    assert shell.shard.group_count == 0


def test_offsets_of_what_members_read_are_kept(shell: Shell) -> None:
    shell.with_settings(offsets_retention_minutes=60, group_consumer_session_timeout_ms=10**9)
    ann = Modern(shell, "ann")
    ann.beat()
    ann.commit(5)
    shell.wait(90 * 60_000)
    assert len(shell.shard._state.offsets.of_group(GROUP)) == 1
    ann.topics, ann.is_unsure = ("payments",), True
    ann.settle(3)
    shell.wait(10 * 60_000)
    assert not shell.shard._state.offsets.of_group(GROUP)
    assert shell.shard.group_count == 1


def test_group_is_listed_by_its_kind_and_state(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.beat()

    def listed(**filters: tuple[str, ...]) -> tuple[ListedGroup, ...]:
        return shell.ask(ListGroupsResponse, ListGroupsRequest(**filters), version=5).groups

    expected = ListedGroup(
        group_id=GROUP, protocol_type="consumer", group_state="Stable", group_type="consumer"
    )
    assert listed(types_filter=("consumer",), states_filter=("stable",)) == (expected,)
    assert listed(types_filter=("classic",)) == ()
    bob = Modern(shell, "bob")
    bob.beat()
    assert listed(states_filter=("Reconciling",))[0].group_id == GROUP
    bob.leave()
    assert listed(states_filter=("Assigning",))[0].group_id == GROUP
    ann.leave()
    assert listed(states_filter=("Empty",))[0].group_id == GROUP


def described(shell: Shell, group_id: str = GROUP) -> DescribedGroup:
    request = ConsumerGroupDescribeRequest(group_ids=(group_id,))
    (group,) = shell.ask(ConsumerGroupDescribeResponse, request, version=1).groups
    return group


def test_group_is_described_with_what_members_have_and_are_to_have(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", instance="desk"), Modern(shell, "bob", pattern="pay.*", assignor="range")
    ann.beat()
    bob.beat()
    group = described(shell)
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Reconciling", 2, 2)
    assert group.assignor_name == "range"
    first, second = group.members
    assert (first.member_id, first.instance_id, first.member_epoch) == ("ann", "desk", 1)
    assert first.client_id == "ann"
    assert first.member_type == CONSUMER_MEMBER
    (assigned,), (target,) = first.assignment.topic_partitions, first.target_assignment.topic_partitions
    assert (assigned.topic_name, assigned.partitions, target.partitions) == ("orders", (0, 1, 2, 3), (0, 1))
    assert (second.subscribed_topic_names, second.subscribed_topic_regex) == (("orders",), "pay.*")
    assert {each.topic_name for each in second.target_assignment.topic_partitions} == {"orders", "payments"}


def test_member_of_the_classic_protocol_is_described_as_one(shell: Shell) -> None:
    Modern(shell, "ann").beat()
    Actor(shell, "cal").join()
    assert [member.member_type for member in described(shell).members] == [CONSUMER_MEMBER, CLASSIC_MEMBER]


def test_topics_that_are_gone_are_not_described(shell: Shell) -> None:
    Modern(shell, "ann").beat()
    shell.change_topics(FixedTopics({"orders": 4}, {"orders": TopicId(bytes([9] * 16))}))
    (member,) = described(shell).members
    assert member.assignment.topic_partitions == ()


def test_group_that_is_no_consumer_group_is_not_described(shell: Shell) -> None:
    Actor(shell, "bob").join()
    assert described(shell).error_message == f"Group {GROUP} is not a consumer group."
    assert described(shell, "nobody").error_message == "Group nobody not found."
    assert described(shell).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_consumer_group_is_not_described_as_a_classic_one(shell: Shell) -> None:
    Modern(shell, "ann").beat()
    request = DescribeGroupsRequest(groups=(GROUP,))
    (group,) = shell.ask(DescribeGroupsResponse, request, version=6).groups
    assert group.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    (group,) = shell.ask(DescribeGroupsResponse, request, version=5).groups
    assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Dead")


def test_shard_that_is_given_up_expects_nothing_any_more(shell: Shell) -> None:
    pair(shell)
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    assert not group.unload(ErrorCode.NOT_COORDINATOR).replies
    due = shell.shard.next_deadline()
    assert due == Millis(shell.shard._deadlines.next() or 0)
    assert len(shell.shard._deadlines) == 1


def test_two_members_that_fall_silent_together_are_removed_one_after_the_other(shell: Shell) -> None:
    pair(shell)
    epoch = ledger_of(shell).epoch
    shell.wait(45_000)
    assert not ledger_of(shell).members
    assert ledger_of(shell).epoch == epoch + 2
