from dataclasses import replace

import pytest

from penstock.metadata.image import ClusterImage
from penstock.metadata.partition_creation import create_partitions
from penstock.metadata.records import PartitionRecord, TopicRecord
from penstock.metadata.targets import Target, begin_moves
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId, TopicId
from penstock.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

ORDERS = TopicId(b"orders" + bytes(10))


def make_request(count: int, *assignments: tuple[int, ...], name: str = "orders") -> CreatePartitionsRequest:
    given = tuple(CreatePartitionsAssignment(broker_ids=each) for each in assignments) or None
    return CreatePartitionsRequest(topics=(CreatePartitionsTopic(name=name, count=count, assignments=given),))


def make_partition(index: int, *replicas: int) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=ORDERS,
        replicas=replicas,
        isr=replicas,
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(bytes([node_id]) * 16 for node_id in replicas),
    )


def test_new_partitions_follow_the_old(image: ClusterImage) -> None:
    result = create_partitions(image, make_request(4))
    assert result.records == (make_partition(2, 1, 2), make_partition(3, 2, 1))
    assert result.response.results == (CreatePartitionsTopicResult(name="orders"),)
    assert len(image.apply(result.records).topics["orders"].partitions) == 4


def test_new_partitions_have_as_many_replicas_as_a_moving_one_will_have(image: ClusterImage) -> None:
    third = replace(image.brokers[NodeId(2)], node_id=NodeId(3), directories=(b"3" * 16,))
    image = replace(image, brokers={**image.brokers, NodeId(3): third})
    moving = image.apply(
        begin_moves(image, [Target(topic="orders", partition=0, replicas=(NodeId(1), NodeId(3)))])
    )
    assert moving.topics["orders"].partitions[0].replicas == (1, 3, 2)
    records = create_partitions(moving, make_request(4)).records
    assert [len(record.replicas) for record in records if isinstance(record, PartitionRecord)] == [2, 2]


def test_new_partitions_may_be_assigned_by_hand(image: ClusterImage) -> None:
    result = create_partitions(image, make_request(4, (2, 1), (1, 2)))
    assert result.records == (make_partition(2, 2, 1), make_partition(3, 1, 2))


def test_validate_only_records_nothing(image: ClusterImage) -> None:
    request = CreatePartitionsRequest(
        topics=(CreatePartitionsTopic(name="orders", count=4),), validate_only=True
    )
    result = create_partitions(image, request)
    assert (result.records, result.response.results[0].error_code) == ((), 0)


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (
            make_request(3, name="x"),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "This server does not host this topic-partition.",
        ),
        (make_request(2), ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partition(s)."),
        (
            make_request(1),
            ErrorCode.INVALID_PARTITIONS,
            "The topic orders currently has 2 partition(s); 1 would not be an increase.",
        ),
        (
            make_request(-1),
            ErrorCode.INVALID_PARTITIONS,
            "The topic orders currently has 2 partition(s); -1 would not be an increase.",
        ),
        (
            make_request(10_001),
            ErrorCode.INVALID_PARTITIONS,
            "A topic may have 10000 partitions, 10001 were asked for.",
        ),
        (
            make_request(4, (1, 2)),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            make_request(3, (1,)),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes a partition with 1 replica(s), but this is not "
            "consistent with previous partitions, which have 2 replica(s).",
        ),
    ],
)
def test_growth_that_cannot_be_is_refused(
    image: ClusterImage, request_: CreatePartitionsRequest, code: ErrorCode, message: str
) -> None:
    result = create_partitions(image, request_)
    assert result.records == ()
    (refused,) = result.response.results
    assert (refused.error_code, refused.error_message) == (code, message)


def test_topic_given_twice_is_refused_once(image: ClusterImage) -> None:
    (topic,) = make_request(4).topics
    result = create_partitions(image, CreatePartitionsRequest(topics=(topic, topic)))
    assert result.records == ()
    assert result.response.results == (
        CreatePartitionsTopicResult(
            name="orders", error_code=ErrorCode.INVALID_REQUEST, error_message="Duplicate topic name."
        ),
    )


def test_cluster_has_a_limit_of_partitions(image: ClusterImage) -> None:
    topics = [TopicId(number.to_bytes(16, "big")) for number in range(1, 12)]
    crowded = image
    for number, topic_id in enumerate(topics):
        crowded = crowded.apply(
            [
                TopicRecord(name=f"t{number}", topic_id=topic_id),
                PartitionRecord(partition_id=0, topic_id=topic_id, replicas=(1,), isr=(1,), leader=1),
            ]
        )
    request = CreatePartitionsRequest(
        topics=tuple(CreatePartitionsTopic(name=f"t{number}", count=10_000) for number in range(len(topics))),
        validate_only=True,
    )
    result = create_partitions(crowded, request)
    assert [each.error_code for each in result.response.results] == [0] * 9 + [ErrorCode.POLICY_VIOLATION] * 2
