"""What a topic holds, read to its end with somebody else's client: for tests of those who write."""

import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

READ_SECONDS_MAX = 30.0


def read_topic(bootstrap: str, topic: str, *, isolation_level: str = "read_committed") -> list[list[Message]]:
    """The records of every partition, in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reading-for-a-test",
            "isolation.level": isolation_level,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        count = len(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
        found: list[list[Message]] = [[] for _ in range(count)]
        consumer.assign([TopicPartition(topic, number, 0) for number in range(count)])
        _read_to_end(consumer, found)
        return found
    finally:
        consumer.close()


def read_values(
    bootstrap: str, topic: str, *, isolation_level: str = "read_committed"
) -> list[list[bytes | None]]:
    """The values of every partition, in order."""
    read = read_topic(bootstrap, topic, isolation_level=isolation_level)
    return [[message.value() for message in messages] for messages in read]


def _read_to_end(consumer: Consumer, found: list[list[Message]]) -> None:
    deadline = time.monotonic() + READ_SECONDS_MAX
    open_partitions = set(range(len(found)))
    while open_partitions:
        assert time.monotonic() < deadline, f"partitions {open_partitions} have no end"
        message = consumer.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found[message.partition()].append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            open_partitions.discard(message.partition())
        else:
            raise KafkaException(error)
