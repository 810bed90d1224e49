"""DescribeTopicPartitions (KIP-966): topics in the order of names, a page of partitions at a time."""

from penstock.metadata.describe_topics import offline_replicas, online_leader, why_unknown
from penstock.metadata.image import ClusterImage
from penstock.metadata.operations import TOPIC_OPERATIONS
from penstock.metadata.outcome import invalid_request
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.names import INTERNAL_TOPICS
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)


def describe_topic_partitions(
    image: ClusterImage, request: DescribeTopicPartitionsRequest, *, listener: str, partitions_max: int
) -> DescribeTopicPartitionsResponse:
    """One page; INVALID_REQUEST when the cursor points nowhere."""
    names = _names(image, request)
    room = max(1, min(partitions_max, request.response_partition_limit))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    cursor: ResponseCursor | None = None
    for name in names:
        first = _first_partition(request, name)
        topic = image.topics.get(name)
        if room == 0:
            cursor = ResponseCursor(topic_name=name, partition_index=first)
            break
        if topic is None:
            topics.append(_unknown(name))
            continue
        last = min(len(topic.partitions), first + room)
        topics.append(_known(image, topic, listener, range(first, last)))
        room -= max(0, last - first)
        if last < len(topic.partitions):
            cursor = ResponseCursor(topic_name=name, partition_index=last)
            break
    return DescribeTopicPartitionsResponse(topics=tuple(topics), next_cursor=cursor)


def _names(image: ClusterImage, request: DescribeTopicPartitionsRequest) -> list[str]:
    """Topics from the cursor on, sorted; no topics asked for means all."""
    asked = {topic.name for topic in request.topics}
    cursor = request.cursor
    if cursor is None:
        return sorted(asked or image.topics)
    if asked and cursor.topic_name not in asked:
        raise invalid_request(
            f"DescribeTopicPartitionsRequest topic list should contain the cursor topic: {cursor.topic_name}"
        )
    if cursor.partition_index < 0:
        raise invalid_request(
            f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor.partition_index}"
        )
    return sorted(name for name in asked or image.topics if name >= cursor.topic_name)


def _first_partition(request: DescribeTopicPartitionsRequest, name: str) -> int:
    cursor = request.cursor
    return cursor.partition_index if cursor is not None and cursor.topic_name == name else 0


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=why_unknown(name),
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _known(
    image: ClusterImage, topic: TopicImage, listener: str, indexes: range
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=tuple(_partition(image, index, topic.partitions[index], listener) for index in indexes),
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _partition(
    image: ClusterImage, index: int, partition: PartitionImage, listener: str
) -> DescribeTopicPartitionsResponsePartition:
    return DescribeTopicPartitionsResponsePartition(
        partition_index=index,
        leader_id=online_leader(image, partition, listener),
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        eligible_leader_replicas=partition.eligible_leader_replicas,
        last_known_elr=partition.last_known_elr,
        offline_replicas=offline_replicas(image, partition, listener),
    )
