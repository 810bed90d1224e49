"""How decisions about a consumer group are written down."""

from collections.abc import Iterable

from penstock.groups.consumer.member import ConsumerMember, Progress
from penstock.groups.consumer_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataRecord,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataRecord,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionRecord,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataRecord,
    ConsumerGroupTargetAssignmentMetadataValue,
    CurrentTopicPartitions,
    TargetTopicPartitions,
)
from penstock.groups.partitions import Held, Partitions, TopicIdPartition, by_topic


def epoch_record(group_id: str, epoch: int | None, metadata_hash: int = 0) -> ConsumerGroupMetadataRecord:
    """The group has this epoch, for topics of this hash; with none, it is gone."""
    value = None if epoch is None else ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return ConsumerGroupMetadataRecord(key=ConsumerGroupMetadataKey(group_id=group_id), value=value)


def no_partition_metadata(group_id: str) -> ConsumerGroupPartitionMetadataRecord:
    """Kafka of old wrote topics down beside the epoch; that is over."""
    return ConsumerGroupPartitionMetadataRecord(
        key=ConsumerGroupPartitionMetadataKey(group_id=group_id), value=None
    )


def profile_record(
    group_id: str, member_id: str, profile: ConsumerGroupMemberMetadataValue | None
) -> ConsumerGroupMemberMetadataRecord:
    """Who a member is; with nothing, it is gone."""
    key = ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)
    return ConsumerGroupMemberMetadataRecord(key=key, value=profile)


def target_epoch_record(
    group_id: str, epoch: int | None, timestamp: int = 0
) -> ConsumerGroupTargetAssignmentMetadataRecord:
    """The targets are complete for this epoch; with none, there are none."""
    value = None
    if epoch is not None:
        value = ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=timestamp
        )
    key = ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)
    return ConsumerGroupTargetAssignmentMetadataRecord(key=key, value=value)


def target_record(
    group_id: str, member_id: str, target: Partitions | None
) -> ConsumerGroupTargetAssignmentMemberRecord:
    """What a member is to have; none, and it is gone."""
    value = None
    if target is not None:
        topics = [TargetTopicPartitions(topic_id=each, partitions=of) for each, of in by_topic(target)]
        value = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=tuple(topics))
    key = ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return ConsumerGroupTargetAssignmentMemberRecord(key=key, value=value)


def progress_record(
    group_id: str, member_id: str, progress: Progress | None
) -> ConsumerGroupCurrentMemberAssignmentRecord:
    """What a member has; with nothing, it is gone."""
    value = None
    if progress is not None:
        value = ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=progress.epoch,
            previous_member_epoch=progress.previous_epoch,
            state=progress.state,
            assigned_partitions=_held(progress.assigned),
            partitions_pending_revocation=_held(progress.revoking),
        )
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)
    return ConsumerGroupCurrentMemberAssignmentRecord(key=key, value=value)


def pattern_record(
    group_id: str, pattern: str, topics: Iterable[str] | None, *, version: int = 0, timestamp: int = 0
) -> ConsumerGroupRegularExpressionRecord:
    """What a regular expression means; with nothing, nobody subscribes to it any more."""
    value = None
    if topics is not None:
        value = ConsumerGroupRegularExpressionValue(
            topics=tuple(sorted(topics)), version=version, timestamp=timestamp
        )
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=pattern)
    return ConsumerGroupRegularExpressionRecord(key=key, value=value)


def member_records(
    group_id: str, member: ConsumerMember, target: Partitions
) -> tuple[
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupCurrentMemberAssignmentRecord,
]:
    """All that is to be said of one member."""
    return (
        profile_record(group_id, member.member_id, member.profile),
        target_record(group_id, member.member_id, target),
        progress_record(group_id, member.member_id, member.progress),
    )


def _held(held: Held) -> tuple[CurrentTopicPartitions, ...]:
    return tuple(
        CurrentTopicPartitions(
            topic_id=topic_id,
            partitions=partitions,
            assignment_epochs=tuple(held[TopicIdPartition(topic_id, each)] for each in partitions),
        )
        for topic_id, partitions in by_topic(held)
    )
