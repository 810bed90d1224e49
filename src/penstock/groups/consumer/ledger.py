"""What the log says of one consumer group. Hard state: it changes only by ``apply``, record by record.

Indexes are kept beside it, since every heartbeat asks them: who holds a partition, which member an instance
id belongs to. ``validate`` makes them again and compares.
"""

from collections.abc import Iterator
from typing import assert_never

from penstock.groups.consumer.member import ConsumerMember, MemberState, Progress
from penstock.groups.consumer_records import (
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataRecord,
    ConsumerGroupPartitionMetadataRecord,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpressionRecord,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupTargetAssignmentMetadataRecord,
    CurrentTopicPartitions,
)
from penstock.groups.partitions import Held, Partitions, TopicIdPartition, flatten

UNKNOWN_PROFILE = ConsumerGroupMemberMetadataValue()
"""Of a member whose own record has not been read yet, or was compacted away."""


class Ledger:
    """The epochs, members, targets and patterns of one group."""

    __slots__ = (
        "_subscribed",
        "epoch",
        "group_id",
        "has_partition_metadata",
        "members",
        "metadata_hash",
        "owners",
        "patterns",
        "static_ids",
        "target_epoch",
        "targets",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        #: Grows whenever something happens that calls for another assignment.
        self.epoch = 0
        #: Of the topics the group read at that epoch; 0 if unknown.
        self.metadata_hash = 0
        #: The epoch that ``targets`` were made for; never above ``epoch``.
        self.target_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        #: What each member is to have; no two the same partition.
        self.targets: dict[str, Partitions] = {}
        #: The regular expressions that members subscribe to, with what they meant when last looked at.
        self.patterns: dict[str, ConsumerGroupRegularExpressionValue] = {}
        #: Whether the log has a record about topics that nobody needs any more.
        self.has_partition_metadata = False
        #: Index: the member that each instance id belongs to.
        self.static_ids: dict[str, str] = {}
        #: Index: the member that holds each partition, be it to read or still to let go of.
        self.owners: dict[TopicIdPartition, str] = {}
        self._subscribed: frozenset[str] | None = None

    def copy(self) -> "Ledger":
        """Another one that says the same."""
        other = Ledger(self.group_id)
        other.epoch, other.metadata_hash = self.epoch, self.metadata_hash
        other.target_epoch, other.targets = self.target_epoch, self.targets.copy()
        other.members, other.patterns = self.members.copy(), self.patterns.copy()
        other.static_ids, other.owners = self.static_ids.copy(), self.owners.copy()
        other.has_partition_metadata = self.has_partition_metadata
        other._subscribed = self._subscribed
        return other

    @property
    def is_blank(self) -> bool:
        """Whether the log says nothing."""
        return not (self.epoch or self.members or self.targets or self.patterns)

    @property
    def subscribed_topics(self) -> frozenset[str]:
        """The names of all topics that members want to read, whether they exist or not."""
        if self._subscribed is None:
            names = (member.profile.subscribed_topic_names for member in self.members.values())
            self._subscribed = frozenset().union(*names, *(each.topics for each in self.patterns.values()))
        return self._subscribed

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The names of all topics that a member wants to read."""
        names = frozenset(member.profile.subscribed_topic_names)
        pattern = self.patterns.get(member.profile.subscribed_topic_regex or "")
        return names if pattern is None else names.union(pattern.topics)

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """The member of an instance id."""
        return self.members.get(self.static_ids.get(instance_id or "", ""))

    def classic_members(self) -> Iterator[ConsumerMember]:
        """Those that speak the classic protocol."""
        return (member for member in self.members.values() if member.speaks_classic)

    def apply(self, record: ConsumerGroupRecord) -> None:
        """Take in what a record says."""
        self._subscribed = None
        match record:
            case ConsumerGroupMetadataRecord(value=value):
                self.epoch = 0 if value is None else value.epoch
                self.metadata_hash = 0 if value is None else value.metadata_hash
            case ConsumerGroupPartitionMetadataRecord(value=value):
                self.has_partition_metadata = value is not None
            case ConsumerGroupMemberMetadataRecord(key=key, value=profile):
                self._apply_profile(key.member_id, profile)
            case ConsumerGroupTargetAssignmentMetadataRecord(value=value):
                self.target_epoch = 0 if value is None else value.assignment_epoch
            case ConsumerGroupTargetAssignmentMemberRecord(key=key, value=value):
                self.targets.pop(key.member_id, None)
                if value is not None:
                    self.targets[key.member_id] = flatten(value.topic_partitions)
            case ConsumerGroupCurrentMemberAssignmentRecord(key=key, value=value):
                self._apply_progress(key.member_id, value)
            case ConsumerGroupRegularExpressionRecord(key=key, value=value):
                self.patterns.pop(key.regular_expression, None)
                if value is not None:
                    self.patterns[key.regular_expression] = value
            case _:
                assert_never(record)

    def state(self) -> tuple[object, ...]:
        """A value that says all, to compare it with another."""
        return (
            (self.epoch, self.metadata_hash, self.target_epoch, self.has_partition_metadata),
            dict(self.members),
            dict(self.targets),
            dict(self.patterns),
        )

    def _apply_profile(self, member_id: str, profile: ConsumerGroupMemberMetadataValue | None) -> None:
        before = self.members.get(member_id)
        if before is not None:
            self._unindex_instance(before)
        if profile is None:
            if before is not None:
                self._release(before)
                del self.members[member_id]
            return
        progress = Progress() if before is None else before.progress
        self.members[member_id] = ConsumerMember(member_id=member_id, profile=profile, progress=progress)
        if profile.instance_id is not None:
            self.static_ids[profile.instance_id] = member_id

    def _apply_progress(
        self, member_id: str, value: ConsumerGroupCurrentMemberAssignmentValue | None
    ) -> None:
        member = self.members.get(member_id)
        if member is None and value is None:
            return
        if member is None:
            member = ConsumerMember(member_id=member_id, profile=UNKNOWN_PROFILE)
        self._release(member)
        progress = Progress() if value is None else _progress(value)
        self.members[member_id] = ConsumerMember(
            member_id=member_id, profile=member.profile, progress=progress
        )
        for partition in (*progress.assigned, *progress.revoking):
            self.owners[partition] = member_id

    def _release(self, member: ConsumerMember) -> None:
        for partition in (*member.progress.assigned, *member.progress.revoking):
            if self.owners.get(partition) == member.member_id:
                del self.owners[partition]

    def _unindex_instance(self, member: ConsumerMember) -> None:
        instance_id = member.instance_id
        if instance_id is not None and self.static_ids.get(instance_id) == member.member_id:
            del self.static_ids[instance_id]


def _progress(value: ConsumerGroupCurrentMemberAssignmentValue) -> Progress:
    return Progress(
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=_state(value.state),
        assigned=_held(value.assigned_partitions, value.member_epoch),
        revoking=_held(value.partitions_pending_revocation, value.member_epoch),
    )


def _state(number: int) -> MemberState:
    """A state from the future is taken for one that is looked at again with every heartbeat."""
    try:
        return MemberState(number)
    except ValueError:
        return MemberState.UNRELEASED_PARTITIONS


def _held(topics: tuple[CurrentTopicPartitions, ...], member_epoch: int) -> Held:
    """Partitions with their epochs; records of old have none, then the member's counts."""
    held: dict[TopicIdPartition, int] = {}
    for topic in topics:
        epochs = topic.assignment_epochs or (member_epoch,) * len(topic.partitions)
        for partition, epoch in zip(topic.partitions, epochs, strict=False):
            held[TopicIdPartition(topic.topic_id, partition)] = epoch
    return held
