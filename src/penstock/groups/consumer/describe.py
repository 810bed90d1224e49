"""ConsumerGroupDescribe (key 69): the state and members of consumer groups.

A group that is not there, or is of another kind, is GROUP_ID_NOT_FOUND. Version notes: 1 which protocol a
member speaks.
"""

from collections.abc import Iterable

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.member import ConsumerMember
from penstock.groups.consumer.target import preferred_assignor
from penstock.groups.group_state import GroupState
from penstock.groups.partitions import NO_PARTITIONS, TopicIdPartition, by_topic
from penstock.groups.shard_state import ShardState
from penstock.groups.topics import Topics
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.consumer_group_describe import (
    CLASSIC_MEMBER,
    CONSUMER_MEMBER,
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)


def describe_consumer_groups(
    state: ShardState, event: RequestReceived, request: ConsumerGroupDescribeRequest
) -> Outcome:
    """Answer a ConsumerGroupDescribe request."""
    groups = tuple(_described(state, group_id) for group_id in request.group_ids)
    return answer(event.token, ConsumerGroupDescribeResponse(groups=groups))


def _described(state: ShardState, group_id: str) -> DescribedGroup:
    group = state.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        reason = "not found" if group is None else "is not a consumer group"
        return DescribedGroup(
            group_id=group_id,
            group_state=GroupState.DEAD,
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} {reason}.",
        )
    ledger = group.ledger
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=ledger.epoch,
        assignment_epoch=ledger.target_epoch,
        assignor_name=preferred_assignor(ledger, state.context.settings),
        members=tuple(_member(group, member, state.topics) for member in ledger.members.values()),
    )


def _member(group: ConsumerGroup, member: ConsumerMember, topics: Topics) -> Member:
    profile = member.profile
    target = group.ledger.targets.get(member.member_id, NO_PARTITIONS)
    return Member(
        member_id=member.member_id,
        instance_id=profile.instance_id,
        rack_id=profile.rack_id,
        member_epoch=member.progress.epoch,
        client_id=profile.client_id,
        client_host=profile.client_host,
        subscribed_topic_names=profile.subscribed_topic_names,
        subscribed_topic_regex=profile.subscribed_topic_regex,
        assignment=_assignment(member.progress.assigned, topics),
        target_assignment=_assignment(target, topics),
        member_type=CLASSIC_MEMBER if member.speaks_classic else CONSUMER_MEMBER,
    )


def _assignment(partitions: Iterable[TopicIdPartition], topics: Topics) -> Assignment:
    """By name and id; topics that are gone are left out."""
    named = [(topics.name_of(topic_id), topic_id, of) for topic_id, of in by_topic(partitions)]
    return Assignment(
        topic_partitions=tuple(
            TopicPartitions(topic_id=topic_id, topic_name=name, partitions=of)
            for name, topic_id, of in named
            if name is not None
        )
    )
