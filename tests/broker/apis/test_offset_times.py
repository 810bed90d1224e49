"""OffsetTimes, asked of a real broker as another broker would ask it."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.model.limits import OFFSET_TIMES_MAX
from penstock.testing import Broker
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.offset_times import AskedPartition, OffsetTimesRequest, OffsetTimesResponse

TIMES = (1_000, 2_000, 3_000)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


@pytest.fixture(scope="module")
def topic_id(broker: Broker) -> TopicId:
    """A topic of three batches, each with a time of its own."""
    topic = broker.create_topic()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for time in TIMES:
        producer.produce(topic, b"x", timestamp=time)
        assert producer.flush(10) == 0
    return broker.thread_home.look(lambda inner: inner.image.topics[topic].topic_id)


def ask(broker: Broker, *asked: AskedPartition) -> OffsetTimesResponse:
    response: OffsetTimesResponse = broker.thread_home.ask(
        ApiKey.OFFSET_TIMES, OffsetTimesRequest(partitions=asked)
    )
    return response


def test_end_and_times_are_told(broker: Broker, topic_id: TopicId) -> None:
    (told,) = ask(broker, AskedPartition(topic_id=topic_id, partition=0, offsets=(2, 0, 1))).partitions
    assert (told.error_code, told.high_watermark, told.timestamps) == (0, 3, (3_000, 1_000, 2_000))


def test_offset_at_the_end_has_no_time(broker: Broker, topic_id: TopicId) -> None:
    (told,) = ask(broker, AskedPartition(topic_id=topic_id, partition=0, offsets=(3, 99, -1))).partitions
    assert told.timestamps == (-1, -1, 1_000)


def test_what_is_not_here_is_an_error_of_its_own(broker: Broker, topic_id: TopicId) -> None:
    told = ask(
        broker,
        AskedPartition(topic_id=topic_id, partition=7),
        AskedPartition(topic_id=TopicId(b"x" * 16), partition=0, offsets=(1,)),
        AskedPartition(topic_id=topic_id, partition=0),
    ).partitions
    codes = [ErrorCode(each.error_code) for each in told]
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.NONE]


def test_too_many_offsets_are_refused(broker: Broker, topic_id: TopicId) -> None:
    offsets = tuple(range(OFFSET_TIMES_MAX + 1))
    response = ask(broker, AskedPartition(topic_id=topic_id, partition=0, offsets=offsets))
    assert (response.error_code, response.partitions) == (ErrorCode.INVALID_REQUEST, ())
