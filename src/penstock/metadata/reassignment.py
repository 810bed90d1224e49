"""AlterPartitionReassignments and ListPartitionReassignments: replicas move while everything goes on."""

from collections.abc import Iterable
from dataclasses import replace

from penstock.metadata.assignments import check_assignment
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import circumstances_in
from penstock.metadata.outcome import message_of
from penstock.metadata.partition_change import Wanted, as_it_is, change_partition
from penstock.metadata.placement import Replicas
from penstock.metadata.reassignment_progress import Progress, begun, reverted
from penstock.metadata.records import PartitionChangeRecord
from penstock.metadata.replication_rules import settled_replica_count, topic_rules
from penstock.metadata.result import Result
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def alter_reassignments(
    image: ClusterImage, request: AlterPartitionReassignmentsRequest
) -> Result[AlterPartitionReassignmentsResponse]:
    """Decide on the partitions of a request, each by itself; the last word on a partition counts."""
    records: dict[tuple[str, int], PartitionChangeRecord | None] = {}
    responses = []
    for topic in request.topics:
        outcomes = []
        for each in topic.partitions:
            try:
                records[topic.name, each.partition_index] = _alter(image, topic, each, request)
                outcomes.append(ReassignablePartitionResponse(partition_index=each.partition_index))
            except ApiError as error:
                outcomes.append(_refusal(each, error))
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=tuple(outcomes)))
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, responses=tuple(responses)
    )
    return Result(
        records=tuple(record for record in records.values() if record is not None), response=response
    )


def move(
    image: ClusterImage, topic: TopicImage, index: int, target: Replicas
) -> PartitionChangeRecord | None:
    """Begin to move a partition to ``target``; a mere change of order is done at once."""
    return _change(image, topic, index, begun(topic.partitions[index], target))


def list_reassignments(
    image: ClusterImage, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Which of the partitions asked for, or of all, are on the move."""
    if request.topics is None:
        asked = [(name, range(len(image.topics[name].partitions))) for name in sorted(image.topics)]
        topics = (_ongoing(image.topics[name], indexes) for name, indexes in asked)
    else:
        topics = (
            _ongoing(image.topics[each.name], each.partition_indexes)
            for each in request.topics
            if each.name in image.topics
        )
    return ListPartitionReassignmentsResponse(topics=tuple(topic for topic in topics if topic.partitions))


def _alter(
    image: ClusterImage,
    wanted: ReassignableTopic,
    place: ReassignablePartition,
    request: AlterPartitionReassignmentsRequest,
) -> PartitionChangeRecord | None:
    topic, index = image.topics.get(wanted.name), place.partition_index
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {wanted.name}.")
    if not 0 <= index < len(topic.partitions):
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {wanted.name}:{index}."
        )
    if place.replicas is None:
        return _cancel(image, topic, index)
    target = check_assignment(image, place.replicas, replica_count=None)
    if not request.allow_replication_factor_change:
        _check_same_size(topic, index, target)
    return move(image, topic, index, target)


def _cancel(image: ClusterImage, topic: TopicImage, index: int) -> PartitionChangeRecord | None:
    partition = topic.partitions[index]
    if not partition.is_reassigning:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress.")
    before = reverted(partition)
    allows_unclean = topic_rules(image, topic.name).allows_unclean_election
    has_clean_leader = set(before.isr) or (set(before.replicas) & set(partition.eligible_leader_replicas))
    if not has_clean_leader and not allows_unclean:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {topic.name}:{index} because it would require an "
            "unclean leader election.",
        )
    return _change(image, topic, index, before)


def _check_same_size(topic: TopicImage, index: int, target: Replicas) -> None:
    present = settled_replica_count(topic.partitions[index])
    if len(target) != present:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {present} to {len(target)}.",
        )


def _change(
    image: ClusterImage, topic: TopicImage, index: int, progress: Progress
) -> PartitionChangeRecord | None:
    partition = topic.partitions[index]
    return change_partition(
        partition,
        _wanted(partition, progress),
        circumstances_in(image, topic_rules(image, topic.name)),
        topic_id=topic.topic_id,
        index=index,
    )


def _wanted(partition: PartitionImage, progress: Progress) -> Wanted:
    return replace(
        as_it_is(partition),
        isr=progress.isr,
        replicas=progress.replicas,
        adding=progress.adding,
        removing=progress.removing,
    )


def _ongoing(topic: TopicImage, indexes: Iterable[int]) -> OngoingTopicReassignment:
    return OngoingTopicReassignment(
        name=topic.name,
        partitions=tuple(
            OngoingPartitionReassignment(
                partition_index=index,
                replicas=topic.partitions[index].replicas,
                adding_replicas=topic.partitions[index].adding_replicas,
                removing_replicas=topic.partitions[index].removing_replicas,
            )
            for index in indexes
            if 0 <= index < len(topic.partitions) and topic.partitions[index].is_reassigning
        ),
    )


def _refusal(place: ReassignablePartition, error: ApiError) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=place.partition_index, error_code=error.code, error_message=message_of(error)
    )
