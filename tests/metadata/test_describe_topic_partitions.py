import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.metadata.describe_topic_partitions import describe_topic_partitions
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import MetadataRecord, PartitionRecord, TopicRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicId
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    RequestCursor,
    ResponseCursor,
    TopicRequest,
)

ORDERS = TopicId(b"orders" + bytes(10))


def describe(
    image: ClusterImage,
    *names: str,
    limit: int = 2000,
    cursor: tuple[str, int] | None = None,
    partitions_max: int = 2000,
) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=tuple(TopicRequest(name=name) for name in names),
        response_partition_limit=limit,
        cursor=None if cursor is None else RequestCursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    return describe_topic_partitions(image, request, listener="PLAINTEXT", partitions_max=partitions_max)


def make_image(counts: dict[str, int]) -> ClusterImage:
    records: list[MetadataRecord] = []
    for number, (name, count) in enumerate(counts.items(), start=1):
        topic_id = TopicId(number.to_bytes(16, "big"))
        records.append(TopicRecord(name=name, topic_id=topic_id))
        records += (
            PartitionRecord(partition_id=index, topic_id=topic_id, replicas=(1,), isr=(1,), leader=1)
            for index in range(count)
        )
    return ClusterImage().apply(records)


def test_topic_is_described_in_full(image: ClusterImage) -> None:
    assert describe(image, "orders") == DescribeTopicPartitionsResponse(
        topics=(
            DescribeTopicPartitionsResponseTopic(
                name="orders",
                topic_id=ORDERS,
                partitions=tuple(
                    DescribeTopicPartitionsResponsePartition(
                        partition_index=index,
                        leader_id=1,
                        leader_epoch=4,
                        replica_nodes=(1, 2),
                        isr_nodes=(1, 2),
                        eligible_leader_replicas=(),
                        last_known_elr=(),
                    )
                    for index in range(2)
                ),
                topic_authorized_operations=3576,
            ),
        )
    )


def test_unknown_and_impossible_names_have_errors(image: ClusterImage) -> None:
    response = describe(image, "zzz", "a b", "orders")
    assert [(each.name, each.error_code) for each in response.topics] == [
        ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("orders", 0),
        ("zzz", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_no_topics_means_all_in_the_order_of_names() -> None:
    image = make_image({"b": 1, "a": 2})
    assert [each.name for each in describe(image).topics] == ["a", "b"]


def test_full_page_points_to_what_did_not_fit() -> None:
    image = make_image({"a": 2, "b": 3})
    page = describe(image, limit=4)
    assert [(each.name, len(each.partitions)) for each in page.topics] == [("a", 2), ("b", 2)]
    assert page.next_cursor == ResponseCursor(topic_name="b", partition_index=2)
    exactly_full = describe(image, limit=2)
    assert exactly_full.next_cursor == ResponseCursor(topic_name="b", partition_index=0)
    rest = describe(image, cursor=("b", 2))
    assert [(each.name, [p.partition_index for p in each.partitions]) for each in rest.topics] == [("b", [2])]
    assert rest.next_cursor is None


def test_brokers_limit_beats_the_clients() -> None:
    page = describe(make_image({"a": 5}), limit=4, partitions_max=3)
    assert page.next_cursor == ResponseCursor(topic_name="a", partition_index=3)


@pytest.mark.parametrize("limit", [0, -5])
def test_limit_of_nothing_is_one(limit: int) -> None:
    assert len(describe(make_image({"a": 5}), limit=limit).topics[0].partitions) == 1


def test_cursor_beyond_the_topic_describes_no_partitions() -> None:
    page = describe(make_image({"a": 2}), "a", cursor=("a", 7))
    assert page.topics[0].partitions == ()
    assert page.next_cursor is None


@pytest.mark.parametrize("cursor", [("b", 0), ("a", -1)])
def test_cursor_that_points_nowhere_is_refused(cursor: tuple[str, int]) -> None:
    with pytest.raises(ApiError) as caught:
        describe(make_image({"a": 2}), "a", cursor=cursor)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 6), max_size=6),
    st.integers(1, 7),
)
def test_pages_add_up_to_everything_once(counts: dict[str, int], limit: int) -> None:
    image = make_image(counts)
    seen: list[tuple[str | None, int]] = []
    cursor: tuple[str, int] | None = None
    for _ in range(sum(counts.values()) + 1):
        page = describe(image, limit=limit, cursor=cursor)
        found = [(topic.name, each.partition_index) for topic in page.topics for each in topic.partitions]
        assert len(found) <= limit
        seen += found
        if page.next_cursor is None:
            break
        cursor = (page.next_cursor.topic_name, page.next_cursor.partition_index)
    assert seen == [(name, index) for name in sorted(counts) for index in range(counts[name])]


def test_eligible_replicas_and_who_led_last_are_told() -> None:
    record = PartitionRecord(
        partition_id=0, topic_id=ORDERS, replicas=(1, 2), eligible_leader_replicas=(2,), last_known_elr=(1,)
    )
    image = ClusterImage().apply([TopicRecord(name="orders", topic_id=ORDERS), record])
    (partition,) = describe(image, "orders").topics[0].partitions
    assert partition.eligible_leader_replicas == (2,)
    assert partition.last_known_elr == (1,)
