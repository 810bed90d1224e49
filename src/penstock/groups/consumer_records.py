"""What consumer groups (KIP-848) write into ``__consumer_offsets``; ``records`` has the rest, and the codec.

One group is many records: the group's epoch, who its members are, what each is to have (the target) and what
each has (the current assignment). Each is a full statement about its key, so any of them may be compacted
away once a newer one has been written.
"""

from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.ids import TopicId
from penstock.wire.primitives import BYTES, INT8, INT32, INT64, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, nullable_array, nullable_struct


class ConsumerGroupMetadataKey(Struct):
    """A group that the broker assigns (KIP-848)."""

    group_id: str = field(STRING)


class ConsumerGroupMetadataValue(Struct):
    """The group's epoch, and a hash of the topics it was made for; 0 if unknown."""

    epoch: int = field(INT32)
    metadata_hash: int = field(INT64, tag=0)


class ConsumerGroupPartitionMetadataKey(Struct):
    """The topics of a consumer group, as Kafka wrote them down before 4.1."""

    group_id: str = field(STRING)


class PartitionRacks(Struct):
    """Where the replicas of a partition were."""

    partition: int = field(INT32)
    racks: tuple[str, ...] = array(STRING)


class PartitionMetadataTopic(Struct):
    """A topic that members subscribed to."""

    topic_id: TopicId = field(TOPIC_ID)
    topic_name: str = field(STRING)
    num_partitions: int = field(INT32)
    partition_metadata: tuple[PartitionRacks, ...] = array(PartitionRacks)


class ConsumerGroupPartitionMetadataValue(Struct):
    """All of them. A hash in the group's own record has taken its place; it is only read, and removed."""

    topics: tuple[PartitionMetadataTopic, ...] = array(PartitionMetadataTopic)


class ConsumerGroupMemberMetadataKey(Struct):
    """A member of a consumer group."""

    group_id: str = field(STRING)
    member_id: str = field(STRING)


class ClassicProtocol(Struct):
    """A way to assign that a member knows, with what it has to say about itself in it."""

    name: str = field(STRING)
    metadata: bytes = field(BYTES)


class ClassicMemberMetadata(Struct):
    """What is only known of members that still speak the classic protocol."""

    session_timeout_ms: int = field(INT32)
    supported_protocols: tuple[ClassicProtocol, ...] = array(ClassicProtocol)


class ConsumerGroupMemberMetadataValue(Struct):
    """Who a member is, and what it wants."""

    instance_id: str | None = nullable(STRING)
    rack_id: str | None = nullable(STRING)
    client_id: str = field(STRING)
    client_host: str = field(STRING)
    subscribed_topic_names: tuple[str, ...] = array(STRING)
    subscribed_topic_regex: str | None = nullable(STRING)
    rebalance_timeout_ms: int = field(INT32, default=-1)
    server_assignor: str | None = nullable(STRING)
    classic_member_metadata: ClassicMemberMetadata | None = nullable_struct(ClassicMemberMetadata, tag=0)


class ConsumerGroupTargetAssignmentMetadataKey(Struct):
    """The assignment that a consumer group moves towards."""

    group_id: str = field(STRING)


class ConsumerGroupTargetAssignmentMetadataValue(Struct):
    """The group epoch the assignment was made for, and when; 0 if unknown."""

    assignment_epoch: int = field(INT32)
    assignment_timestamp: int = field(INT64, tag=0)


class ConsumerGroupTargetAssignmentMemberKey(Struct):
    """One member's part of that assignment."""

    group_id: str = field(STRING)
    member_id: str = field(STRING)


class TargetTopicPartitions(Struct):
    """Partitions of one topic that a member is to have."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[int, ...] = array(INT32)


class ConsumerGroupTargetAssignmentMemberValue(Struct):
    """All that the member is to have."""

    topic_partitions: tuple[TargetTopicPartitions, ...] = array(TargetTopicPartitions)


class ConsumerGroupCurrentMemberAssignmentKey(Struct):
    """What one member of a consumer group has."""

    group_id: str = field(STRING)
    member_id: str = field(STRING)


class CurrentTopicPartitions(Struct):
    """Partitions of one topic that a member has, each with the epoch it was given at (null if unknown)."""

    topic_id: TopicId = field(TOPIC_ID)
    partitions: tuple[int, ...] = array(INT32)
    assignment_epochs: tuple[int, ...] | None = nullable_array(INT32, default=None, tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(Struct):
    """How far the member has come towards what it is to have."""

    member_epoch: int = field(INT32)
    previous_member_epoch: int = field(INT32)
    state: int = field(INT8)
    assigned_partitions: tuple[CurrentTopicPartitions, ...] = array(CurrentTopicPartitions)
    partitions_pending_revocation: tuple[CurrentTopicPartitions, ...] = array(CurrentTopicPartitions)


class ConsumerGroupRegularExpressionKey(Struct):
    """A regular expression that members of a consumer group subscribe to."""

    group_id: str = field(STRING)
    regular_expression: str = field(STRING)


class ConsumerGroupRegularExpressionValue(Struct):
    """The topics it meant at some version of the cluster's metadata."""

    topics: tuple[str, ...] = array(STRING)
    version: int = field(INT64)
    timestamp: int = field(INT64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupMetadataRecord:
    """A consumer group has a new epoch, or is gone."""

    key: ConsumerGroupMetadataKey
    value: ConsumerGroupMetadataValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupPartitionMetadataRecord:
    """What the topics of a group were like, or nobody needs to know any more."""

    key: ConsumerGroupPartitionMetadataKey
    value: ConsumerGroupPartitionMetadataValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupMemberMetadataRecord:
    """A member has joined or changed its mind, or is gone."""

    key: ConsumerGroupMemberMetadataKey
    value: ConsumerGroupMemberMetadataValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupTargetAssignmentMetadataRecord:
    """The target assignment is complete for an epoch, or is gone."""

    key: ConsumerGroupTargetAssignmentMetadataKey
    value: ConsumerGroupTargetAssignmentMetadataValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupTargetAssignmentMemberRecord:
    """What a member is to have, or it is to have nothing any more."""

    key: ConsumerGroupTargetAssignmentMemberKey
    value: ConsumerGroupTargetAssignmentMemberValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupCurrentMemberAssignmentRecord:
    """What a member has, or it has nothing any more."""

    key: ConsumerGroupCurrentMemberAssignmentKey
    value: ConsumerGroupCurrentMemberAssignmentValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupRegularExpressionRecord:
    """What a regular expression means, or nobody subscribes to it any more."""

    key: ConsumerGroupRegularExpressionKey
    value: ConsumerGroupRegularExpressionValue | None


ConsumerGroupRecord: TypeAlias = (
    ConsumerGroupMetadataRecord
    | ConsumerGroupPartitionMetadataRecord
    | ConsumerGroupMemberMetadataRecord
    | ConsumerGroupTargetAssignmentMetadataRecord
    | ConsumerGroupTargetAssignmentMemberRecord
    | ConsumerGroupCurrentMemberAssignmentRecord
    | ConsumerGroupRegularExpressionRecord
)
"""Whatever the log says of one consumer group, its offsets aside."""
