"""CreatePartitions: topics grow, they never shrink; records already there stay where they are."""

from penstock.metadata.assignments import check_assignment, new_partition_record
from penstock.metadata.broker_loads import destined_replicas
from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import duplicates, invalid_request, message_of
from penstock.metadata.placement import Placement, Replicas, place
from penstock.metadata.records import PartitionRecord
from penstock.metadata.result import Result
from penstock.metadata.topic_image import TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PARTITIONS_PER_CLUSTER_MAX, PARTITIONS_PER_TOPIC_MAX
from penstock.model.names import COORDINATOR_TOPICS
from penstock.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def create_partitions(
    image: ClusterImage, request: CreatePartitionsRequest
) -> Result[CreatePartitionsResponse]:
    """Decide on the topics of a request, each by itself."""
    repeated = duplicates(topic.name for topic in request.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    records: list[PartitionRecord] = []
    for topic in request.topics:
        try:
            if topic.name in repeated:
                raise invalid_request("Duplicate topic name.")
            records += _grow(image, topic, already_new=len(records))
            results[topic.name] = CreatePartitionsTopicResult(name=topic.name)
        except ApiError as error:
            results[topic.name] = CreatePartitionsTopicResult(
                name=topic.name, error_code=error.code, error_message=message_of(error)
            )
    response = CreatePartitionsResponse(results=tuple(results.values()))
    return Result(records=() if request.validate_only else tuple(records), response=response)


def _grow(image: ClusterImage, wanted: CreatePartitionsTopic, *, already_new: int) -> list[PartitionRecord]:
    topic = image.topics.get(wanted.name)
    if topic is None:
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
        )
    _check_count(image, topic, wanted.count, already_new=already_new)
    first = len(topic.partitions)
    return [
        new_partition_record(image, topic.topic_id, first + index, replicas=replicas)
        for index, replicas in enumerate(_assign(image, topic, wanted, already_new=already_new))
    ]


def _check_count(image: ClusterImage, topic: TopicImage, count: int, *, already_new: int) -> None:
    present = len(topic.partitions)
    if topic.name in COORDINATOR_TOPICS:
        raise _invalid_partitions(
            f"The number of partitions of {topic.name} cannot be changed: what it holds is found by it."
        )
    if count == present:
        raise _invalid_partitions(f"Topic already has {present} partition(s).")
    if count < present:
        raise _invalid_partitions(
            f"The topic {topic.name} currently has {present} partition(s); {count} would not be an increase."
        )
    if count > PARTITIONS_PER_TOPIC_MAX:
        raise _invalid_partitions(
            f"A topic may have {PARTITIONS_PER_TOPIC_MAX} partitions, {count} were asked for."
        )
    if image.partition_count + already_new + count - present > PARTITIONS_PER_CLUSTER_MAX:
        raise ApiError(
            ErrorCode.POLICY_VIOLATION, f"A cluster may have {PARTITIONS_PER_CLUSTER_MAX} partitions."
        )


def _assign(
    image: ClusterImage, topic: TopicImage, wanted: CreatePartitionsTopic, *, already_new: int
) -> tuple[Replicas, ...]:
    additional = wanted.count - len(topic.partitions)
    # While it moves, a partition is where it was and where it will be.
    replica_count = len(destined_replicas(topic.partitions[0]))
    if wanted.assignments is None:
        placement = Placement(
            partitions=additional,
            replication_factor=replica_count,
            start=image.partition_count + already_new,
        )
        return place(image.brokers.values(), placement)
    if len(wanted.assignments) != additional:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only {len(wanted.assignments)} "
            "assignment(s) were specified.",
        )
    return tuple(
        check_assignment(image, each.broker_ids, replica_count=replica_count) for each in wanted.assignments
    )


def _invalid_partitions(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_PARTITIONS, message)
