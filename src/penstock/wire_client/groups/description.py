"""What a cluster tells about groups, whichever of the two protocols their members speak.

Groups that the broker assigns itself (KIP-848) and classic ones are described by different requests. Nothing
in a group's name says which it is, so the newer request goes first and what it does not know is asked of the
older one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.groups.consumer_protocol import PROTOCOL_TYPE, read_assignment, read_subscription
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages import consumer_group_describe as consumer_wire
from penstock.wire.messages import describe_groups as classic_wire
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinators, find_coordinators
from penstock.wire_client.errors import check
from penstock.wire_client.topics import by_topic

CLASSIC = "classic"
CONSUMER = "consumer"

EMPTY = "Empty"
DEAD = "Dead"
"""The states of a group without members; a broker calls a group dead also when there is none."""

_NOT_OF_THIS_KIND = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member: who it is, what it wants and what it has."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    subscription: tuple[str, ...]
    assignment: tuple[TopicPartition, ...]

    #: The following are known only of members of groups that the broker assigns.
    subscription_regex: str | None = None
    epoch: int | None = None
    target: tuple[TopicPartition, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """The member as plain dictionaries and lists."""
        return {
            "member_id": self.member_id,
            "instance_id": self.instance_id,
            "client_id": self.client_id,
            "host": self.host,
            "epoch": self.epoch,
            "subscription": list(self.subscription),
            "subscription_regex": self.subscription_regex,
            "assignment": by_topic(self.assignment),
            "target_assignment": None if self.target is None else by_topic(self.target),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """A group; ``protocol`` is the assignor that its members agreed on, or that the broker uses."""

    group: str
    type: str
    state: str
    protocol: str
    members: tuple[Member, ...]
    epoch: int | None = None
    coordinator: int = -1
    coordinator_address: Address | None = None

    @property
    def is_active(self) -> bool:
        """Whether its offsets belong to members at present."""
        return bool(self.members) or self.state not in (EMPTY, DEAD)


def describe_groups(cluster: Cluster, groups: Iterable[str]) -> dict[str, GroupDescription]:
    """Every one of ``groups`` that exists, in their order."""
    wanted = list(dict.fromkeys(groups))
    described = describe_consumer_groups(cluster, wanted)
    described |= describe_classic_groups(cluster, [group for group in wanted if group not in described])
    coordinators = find_coordinators(cluster, Coordinated.GROUP, described)
    return {
        group: replace(
            described[group],
            coordinator=coordinators[group],
            coordinator_address=cluster.nodes.get(coordinators[group]),
        )
        for group in wanted
        if group in described
    }


def describe_consumer_groups(cluster: Cluster, groups: Iterable[str]) -> dict[str, GroupDescription]:
    """Those of ``groups`` that the broker assigns."""
    answers = ask_coordinators(cluster, Coordinated.GROUP, groups, _ask_consumer)
    return {
        group: _consumer_group(answer)
        for group, answer in answers.items()
        if _is_described(group, answer.error_code, answer.error_message)
    }


def describe_classic_groups(cluster: Cluster, groups: Iterable[str]) -> dict[str, GroupDescription]:
    """Those of ``groups`` whose members assign among themselves, or that have offsets and no members."""
    answers = ask_coordinators(cluster, Coordinated.GROUP, groups, _ask_classic)
    return {
        group: _classic_group(answer)
        for group, answer in answers.items()
        if _is_described(group, answer.error_code, answer.error_message) and answer.group_state != DEAD
    }


def _ask_consumer(broker: Connection, groups: Sequence[str]) -> dict[str, consumer_wire.DescribedGroup]:
    unknown = consumer_wire.DescribedGroup(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if not broker.serves(ApiKey.CONSUMER_GROUP_DESCRIBE):
        return dict.fromkeys(groups, unknown)
    request = consumer_wire.ConsumerGroupDescribeRequest(group_ids=tuple(groups))
    answers: dict[str, consumer_wire.DescribedGroup] = {}
    # Kafka 4.0 answers for every group once per partition of its offsets topic that any of them is in, each
    # time as if all were there: the one true answer stands among others that say the group is not found.
    for answer in broker.call(ApiKey.CONSUMER_GROUP_DESCRIBE, request).groups:
        if answers.get(answer.group_id, unknown).error_code in _NOT_OF_THIS_KIND:
            answers[answer.group_id] = answer
    return answers


def _ask_classic(broker: Connection, groups: Sequence[str]) -> dict[str, classic_wire.DescribedGroup]:
    answer = broker.call(ApiKey.DESCRIBE_GROUPS, classic_wire.DescribeGroupsRequest(groups=tuple(groups)))
    return {group.group_id: group for group in answer.groups}


def _is_described(group: str, code: int, detail: str | None) -> bool:
    if code in _NOT_OF_THIS_KIND:
        return False
    check(code, doing=f"describe group {group!r}", detail=detail)
    return True


def _consumer_group(group: consumer_wire.DescribedGroup) -> GroupDescription:
    return GroupDescription(
        group=group.group_id,
        type=CONSUMER,
        state=group.group_state,
        protocol=group.assignor_name,
        epoch=group.group_epoch,
        members=_in_order(map(_consumer_member, group.members)),
    )


def _in_order(members: Iterable[Member]) -> tuple[Member, ...]:
    return tuple(sorted(members, key=lambda member: (member.client_id, member.member_id)))


def _consumer_member(member: consumer_wire.Member) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=_bare(member.client_host),
        subscription=tuple(sorted(member.subscribed_topic_names)),
        subscription_regex=member.subscribed_topic_regex or None,
        assignment=_partitions(member.assignment),
        target=_partitions(member.target_assignment),
        epoch=member.member_epoch,
    )


def _partitions(assignment: consumer_wire.Assignment) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            TopicPartition(topic.topic_name, number)
            for topic in assignment.topic_partitions
            for number in topic.partitions
        )
    )


def _classic_group(group: classic_wire.DescribedGroup) -> GroupDescription:
    is_of_consumers = group.protocol_type == PROTOCOL_TYPE
    return GroupDescription(
        group=group.group_id,
        type=CLASSIC,
        state=group.group_state,
        protocol=group.protocol_data,
        members=_in_order(_classic_member(member, is_consumer=is_of_consumers) for member in group.members),
    )


def _classic_member(member: classic_wire.DescribedGroupMember, *, is_consumer: bool) -> Member:
    """A member; what it said and got can be read in groups of consumers, others have their own formats."""
    subscription = read_subscription(bytes(member.member_metadata)) if is_consumer else None
    assignment = read_assignment(bytes(member.member_assignment)) if is_consumer else None
    partitions = () if assignment is None else assignment.assigned_partitions
    return Member(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=_bare(member.client_host),
        subscription=() if subscription is None else tuple(sorted(subscription.topics)),
        assignment=tuple(
            sorted(TopicPartition(topic.topic, number) for topic in partitions for number in topic.partitions)
        ),
    )


def _bare(host: str) -> str:
    """Java brokers show addresses with a slash in front."""
    return host.removeprefix("/")
