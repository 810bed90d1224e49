"""DeleteRecords where somebody counts on what would go."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.model.names import OFFSETS_TOPIC
from penstock.testing import Broker

ANSWER_SECONDS_MAX = 20


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


def delete_everything(broker: Broker, topic: str, partitions: int) -> list[int]:
    """What each partition answers: an error, or the new beginning as a negative number."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    asked = admin.delete_records([TopicPartition(topic, index, -1) for index in range(partitions)])
    answers = []
    for future in asked.values():
        try:
            answers.append(-future.result(ANSWER_SECONDS_MAX).low_watermark)
        except KafkaException as failure:
            answers.append(failure.args[0].code())
    return answers


def produce(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, b"value", b"key")
    assert producer.flush(ANSWER_SECONDS_MAX) == 0


def test_committed_offsets_cannot_be_deleted(broker: Broker) -> None:
    topic = broker.create_topic()
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "readers"})
    try:
        consumer.commit(offsets=[TopicPartition(topic, 0, 42)], asynchronous=False)
    finally:
        consumer.close()
    partitions = broker.thread_home.look(lambda inner: len(inner.image.topics[OFFSETS_TOPIC].partitions))

    answers = delete_everything(broker, OFFSETS_TOPIC, partitions)

    assert set(answers) == {KafkaError.TOPIC_EXCEPTION}


@pytest.mark.parametrize(
    ("policy", "answer"), [("compact", KafkaError.POLICY_VIOLATION), ("compact,delete", -1), ("delete", -1)]
)
def test_records_can_be_deleted_where_the_policy_says_so(broker: Broker, policy: str, answer: int) -> None:
    topic = broker.create_topic(cleanup_policy=policy)
    produce(broker, topic)
    assert delete_everything(broker, topic, 1) == [answer]
