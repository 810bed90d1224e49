import pytest

from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import RemoveTopicRecord
from penstock.metadata.topic_deletion import delete_topics
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)

ORDERS = TopicId(b"orders" + bytes(10))
OTHER = TopicId(b"other" + bytes(11))
BY_NAME = DeleteTopicState(name="orders")
BY_ID = DeleteTopicState(topic_id=ORDERS)


@pytest.mark.parametrize(
    "request_",
    [
        DeleteTopicsRequest(topic_names=("orders",)),
        DeleteTopicsRequest(topics=(BY_NAME,)),
        DeleteTopicsRequest(topics=(BY_ID,)),
    ],
)
def test_topic_is_removed_by_name_or_id(
    image: ClusterImage, config: BrokerConfig, request_: DeleteTopicsRequest
) -> None:
    result = delete_topics(image, request_, version=6, config=config)
    assert result.records == (RemoveTopicRecord(topic_id=ORDERS),)
    assert result.response.responses == (DeletableTopicResult(name="orders", topic_id=ORDERS),)
    assert image.apply(result.records).topics == {}


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        (
            DeleteTopicState(name="x"),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "This server does not host this topic-partition.",
        ),
        (
            DeleteTopicState(topic_id=OTHER),
            ErrorCode.UNKNOWN_TOPIC_ID,
            "This server does not host this topic ID.",
        ),
        (DeleteTopicState(), ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified."),
        (
            DeleteTopicState(name="orders", topic_id=ORDERS),
            ErrorCode.INVALID_REQUEST,
            "You may not specify both topic name and topic id.",
        ),
    ],
)
def test_topic_that_is_not_there_is_refused(
    image: ClusterImage, config: BrokerConfig, wanted: DeleteTopicState, code: ErrorCode, message: str
) -> None:
    result = delete_topics(image, DeleteTopicsRequest(topics=(wanted,)), version=6, config=config)
    assert result.records == ()
    assert result.response.responses == (
        DeletableTopicResult(
            name=wanted.name, topic_id=wanted.topic_id, error_code=code, error_message=message
        ),
    )


@pytest.mark.parametrize(
    ("wanted", "message"), [(BY_NAME, "Duplicate topic name."), (BY_ID, "Duplicate topic id.")]
)
def test_topic_given_twice_is_refused_once(
    image: ClusterImage, config: BrokerConfig, wanted: DeleteTopicState, message: str
) -> None:
    result = delete_topics(image, DeleteTopicsRequest(topics=(wanted, wanted)), version=6, config=config)
    assert result.records == ()
    (refused,) = result.response.responses
    assert (refused.error_code, refused.error_message) == (ErrorCode.INVALID_REQUEST, message)


def test_topic_given_by_name_and_by_id_is_refused(image: ClusterImage, config: BrokerConfig) -> None:
    result = delete_topics(image, DeleteTopicsRequest(topics=(BY_NAME, BY_ID)), version=6, config=config)
    assert result.records == ()
    assert [each.error_code for each in result.response.responses] == [ErrorCode.INVALID_REQUEST] * 2


@pytest.mark.parametrize(
    ("version", "code"), [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)]
)
def test_deletion_switched_off_refuses_everything(image: ClusterImage, version: int, code: ErrorCode) -> None:
    config = load_broker_config(flags={"delete.topic.enable": "false"})
    request = DeleteTopicsRequest(topic_names=("orders", "x"))
    result = delete_topics(image, request, version=version, config=config)
    assert result.records == ()
    assert [(each.name, each.topic_id, each.error_code) for each in result.response.responses] == [
        ("orders", ZERO_TOPIC_ID, code),
        ("x", ZERO_TOPIC_ID, code),
    ]
