"""Records in and out of a topic, by librdkafka, as briefly as a test wants it."""

from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

SECONDS_MAX = 15.0


class DeliveryError(AssertionError):
    """Records were not acknowledged."""


def new_producer(bootstrap: str, **settings: Any) -> Producer:
    """One that retries quickly and says nothing on the terminal."""
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 0,
            "log_level": 0,
            "retry.backoff.ms": 20,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 200,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )


def produce(bootstrap: str, topic: str, *values: str, partition: int = 0, **settings: Any) -> list[int]:
    """Deliver all; their offsets."""
    producer = new_producer(bootstrap, **settings)
    offsets: list[int] = []
    errors: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Any) -> None:
        if error is None:
            offsets.append(message.offset())
        else:
            errors.append(error)

    for value in values:
        producer.produce(topic, value.encode(), partition=partition, on_delivery=delivered)
    left = producer.flush(SECONDS_MAX)
    if left or errors:
        raise DeliveryError(f"{left} not delivered, {errors}")
    return offsets


def consume(bootstrap: str, topic: str, count: int, *, partition: int = 0, **settings: Any) -> list[str]:
    """The first records of a partition, without a group."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
            "reconnect.backoff.max.ms": 200,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        messages: list[str] = []
        while len(messages) < count:
            message = consumer.poll(SECONDS_MAX)
            assert message is not None, f"{len(messages)} of {count} records of {topic}"
            if message.error() is None:
                messages.append(message.value().decode())
        return messages
    finally:
        consumer.close()


def log_range(bootstrap: str, topic: str, partition: int = 0) -> tuple[int, int]:
    """Where the log begins and ends."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "log_level": 0})
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=SECONDS_MAX)
        return low, high
    finally:
        consumer.close()
