"""Topics named by requests, by name and by id, and requests divided by them."""

from typing import Any

from penstock.model.ids import TopicId
from penstock.testing.request_topics import divide, topics_of
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.wire.messages.produce import ProduceRequest, TopicProduceData

ORDERS_ID = TopicId(b"o" * 16)
UNKNOWN_ID = TopicId(b"u" * 16)


def name_of(topic_id: bytes) -> str | None:
    return "orders" if topic_id == ORDERS_ID else None


def test_topics_are_found_by_name_and_by_id_each_once() -> None:
    data = (TopicProduceData(name="a"), TopicProduceData(name="a"), TopicProduceData(topic_id=ORDERS_ID))
    assert topics_of(ProduceRequest(topic_data=data), name_of) == ("a", "orders")


def test_topic_of_an_unknown_id_is_left_out() -> None:
    request = ProduceRequest(topic_data=(TopicProduceData(topic_id=UNKNOWN_ID),))
    assert topics_of(request, name_of) == ()


def test_topics_inside_groups_and_resources_are_found() -> None:
    topics = (OffsetFetchRequestTopics(name="a"),)
    request = OffsetFetchRequest(groups=(OffsetFetchRequestGroup(group_id="g", topics=topics),))
    assert topics_of(request, name_of) == ("a",)
    resources = tuple(
        DescribeConfigsResource(resource_type=kind, resource_name=f"r{kind}") for kind in (2, 4)
    )
    assert topics_of(DescribeConfigsRequest(resources=resources), name_of) == ("r2",)


def test_topics_that_are_subscribed_to_or_in_a_transaction_are_found() -> None:
    assert topics_of(ConsumerGroupHeartbeatRequest(subscribed_topic_names=("a", "b")), name_of) == ("a", "b")
    old = AddPartitionsToTxnRequest(v3_and_below_topics=(AddPartitionsToTxnTopic(name="a"),))
    assert topics_of(old, name_of) == ("a",)


def test_other_names_are_not_taken_for_topics() -> None:
    assert topics_of(JoinGroupRequest(protocols=(JoinGroupRequestProtocol(name="range"),)), name_of) == ()
    topic = CreatableTopic(name="a", configs=(CreatableTopicConfig(name="retention.ms", value="1"),))
    assert topics_of(CreateTopicsRequest(topics=(topic,)), name_of) == ("a",)
    assert topics_of(MetadataRequest(topics=None), name_of) == ()


def test_request_is_divided_between_the_topic_and_the_rest() -> None:
    data = (TopicProduceData(name="a"), TopicProduceData(topic_id=ORDERS_ID), TopicProduceData(name="b"))
    meant: Any
    rest: Any
    meant, rest = divide(ProduceRequest(acks=-1, topic_data=data), "topic_data", "orders", name_of)
    assert [each.topic_id for each in meant.topic_data] == [ORDERS_ID]
    assert [each.name for each in rest.topic_data] == ["a", "b"]
    assert meant.acks == rest.acks == -1


def test_request_about_one_topic_alone_has_no_rest() -> None:
    request = ProduceRequest(topic_data=(TopicProduceData(name="a"),))
    assert divide(request, "topic_data", "a", name_of) == (request, None)
