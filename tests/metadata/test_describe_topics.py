import pytest

from penstock.metadata.describe_topics import describe_topics, missing_topics
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import ZERO_TOPIC_ID, NodeId, TopicId
from penstock.wire.messages.metadata import (
    OPERATIONS_NOT_ASKED,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ORDERS = TopicId(b"orders" + bytes(10))
OTHER = TopicId(b"other" + bytes(11))


def describe(
    image: ClusterImage,
    request: MetadataRequest,
    *,
    version: int = 13,
    listener: str = "PLAINTEXT",
    failures: dict[str, ErrorCode] | None = None,
) -> MetadataResponse:
    return describe_topics(
        image,
        request,
        version=version,
        cluster_id="cluster",
        controller_id=NodeId(1),
        listener=listener,
        failures=failures,
    )


def by_name(*names: str | None) -> MetadataRequest:
    return MetadataRequest(topics=tuple(MetadataRequestTopic(name=name) for name in names))


def by_id(*ids: TopicId) -> MetadataRequest:
    return MetadataRequest(topics=tuple(MetadataRequestTopic(name=None, topic_id=id) for id in ids))


def test_cluster_and_topic_are_described(image: ClusterImage) -> None:
    assert describe(image, by_name("orders")) == MetadataResponse(
        brokers=(
            MetadataResponseBroker(node_id=1, host="host1", port=9001, rack="a"),
            MetadataResponseBroker(node_id=2, host="host2", port=9002, rack="b"),
        ),
        cluster_id="cluster",
        controller_id=1,
        topics=(
            MetadataResponseTopic(
                name="orders",
                topic_id=ORDERS,
                partitions=tuple(
                    MetadataResponsePartition(
                        partition_index=index,
                        leader_id=1,
                        leader_epoch=4,
                        replica_nodes=(1, 2),
                        isr_nodes=(1, 2),
                    )
                    for index in range(2)
                ),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("topics", "version", "count"),
    [(None, 1, 1), (None, 13, 1), ((), 0, 1), ((), 1, 0), ((), 13, 0)],
)
def test_null_means_all_and_empty_means_none(
    image: ClusterImage, topics: tuple[()] | None, version: int, count: int
) -> None:
    response = describe(image, MetadataRequest(topics=topics), version=version)
    assert len(response.topics) == count
    assert len(response.brokers) == 2


def test_topic_by_id(image: ClusterImage) -> None:
    assert describe(image, by_id(ORDERS)).topics[0].name == "orders"


@pytest.mark.parametrize(
    ("request_", "version", "expected"),
    [
        (by_name("x"), 13, ("x", ZERO_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)),
        (by_name("a b"), 13, ("a b", ZERO_TOPIC_ID, ErrorCode.INVALID_TOPIC_EXCEPTION)),
        (by_id(OTHER), 12, (None, OTHER, ErrorCode.UNKNOWN_TOPIC_ID)),
        (by_id(ORDERS), 11, ("", ORDERS, ErrorCode.INVALID_REQUEST)),
        (by_name(None), 11, ("", ZERO_TOPIC_ID, ErrorCode.INVALID_REQUEST)),
        (by_name(None), 12, (None, ZERO_TOPIC_ID, ErrorCode.INVALID_REQUEST)),
    ],
)
def test_topic_that_is_not_there_has_an_error(
    image: ClusterImage,
    request_: MetadataRequest,
    version: int,
    expected: tuple[str | None, TopicId, ErrorCode],
) -> None:
    (topic,) = describe(image, request_, version=version).topics
    assert (topic.name, topic.topic_id, topic.error_code) == expected
    assert topic.partitions == ()


def test_failed_creation_says_why(image: ClusterImage) -> None:
    failures = {"x": ErrorCode.INVALID_REPLICATION_FACTOR}
    (topic,) = describe(image, by_name("x"), failures=failures).topics
    assert topic.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_topic_asked_for_twice_is_told_once(image: ClusterImage) -> None:
    assert len(describe(image, by_name("orders", "orders")).topics) == 1


def test_internal_topic_is_marked(image: ClusterImage) -> None:
    made = image.apply([TopicRecord(name="__consumer_offsets", topic_id=OTHER)])
    assert [each.is_internal for each in describe(made, MetadataRequest(topics=None)).topics] == [False, True]


def test_operations_are_told_when_asked(image: ClusterImage) -> None:
    asked = MetadataRequest(
        topics=None, include_cluster_authorized_operations=True, include_topic_authorized_operations=True
    )
    response = describe(image, asked, version=8)
    assert response.cluster_authorized_operations == 8096
    assert response.topics[0].topic_authorized_operations == 3576
    plain = describe(image, MetadataRequest(topics=None), version=8)
    assert plain.cluster_authorized_operations == OPERATIONS_NOT_ASKED
    assert plain.topics[0].topic_authorized_operations == OPERATIONS_NOT_ASKED


def test_partition_without_leader_says_so(image: ClusterImage) -> None:
    lost = image.apply([PartitionChangeRecord(partition_id=0, topic_id=ORDERS, leader=-1)])
    partition = describe(lost, by_name("orders")).topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


def test_partition_led_by_a_fenced_broker_has_no_leader(image: ClusterImage) -> None:
    led = image.apply(
        [
            TopicRecord(name="t", topic_id=OTHER),
            PartitionRecord(partition_id=0, topic_id=OTHER, replicas=(3, 9, 1), isr=(3,), leader=3),
        ]
    )
    partition = describe(led, by_name("t")).topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert partition.offline_replicas == (3, 9)


@pytest.mark.parametrize(
    ("version", "code"), [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)]
)
def test_leader_on_another_listener_is_not_found(image: ClusterImage, version: int, code: ErrorCode) -> None:
    elsewhere = image.apply(
        [
            RegisterBrokerRecord(
                broker_id=1, fenced=False, end_points=(BrokerEndpoint(name="SSL", host="h", port=1),)
            )
        ]
    )
    response = describe(elsewhere, by_name("orders"), version=version)
    assert [broker.node_id for broker in response.brokers] == [2]
    assert response.topics[0].partitions[0].error_code == code
    assert response.topics[0].partitions[0].offline_replicas == (1,)


def test_missing_topics_are_those_asked_for_by_name(image: ClusterImage) -> None:
    assert missing_topics(image, by_name("x", "orders", "x", "y", None), 13) == ["x", "y"]
    assert missing_topics(image, by_id(OTHER), 13) == []
    assert missing_topics(image, MetadataRequest(topics=None), 13) == []
    assert missing_topics(image, MetadataRequest(topics=()), 0) == []
