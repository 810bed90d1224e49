"""What the confluent-kafka tests share: clients that leave no thread behind, and plain ways to send and read.

Consumers here use ``assign``; those that need a group coordinator bring their own.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic
from tests.broker_process import wait_until
from tests.cluster_size import REPLICATION_FACTOR

REQUEST_SECONDS = 20.0
KEEP_FOR_EVER = {"retention.ms": "-1"}
"""Tests write timestamps of long ago; retention must not take them away."""


def admin_client(bootstrap: str) -> AdminClient:
    """Keep it referenced: a collected admin client cancels its own requests."""
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def make_producer(bootstrap: str, **settings: object) -> Producer:
    """Settings are given with underscores for dots."""
    return Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 5, **dotted(settings)})


@contextmanager
def consumer(bootstrap: str, **settings: object) -> Iterator[Consumer]:
    """A consumer that never commits and starts at the beginning."""
    client = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "group.id": "unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **dotted(settings),
        }
    )
    try:
        yield client
    finally:
        client.close()


def dotted(settings: Mapping[str, object]) -> dict[str, object]:
    """``linger_ms`` is ``linger.ms``; callbacks keep their name."""
    return {
        key if key.endswith("_cb") or key == "on_commit" else key.replace("_", "."): value
        for key, value in settings.items()
    }


def create_topic(
    admin: AdminClient, name: str, *, partitions: int = 1, config: Mapping[str, str] | None = None
) -> str:
    """Create it and wait until it can be seen."""
    topic = NewTopic(name, partitions, REPLICATION_FACTOR, config={**KEEP_FOR_EVER, **(config or {})})
    admin.create_topics([topic])[name].result(REQUEST_SECONDS)
    wait_until(lambda: partition_count(admin, name) == partitions, what=f"{name} in metadata")
    return name


def partition_count(admin: AdminClient, name: str) -> int:
    """As Metadata tells it; none when there is no such topic."""
    topics = admin.list_topics(timeout=REQUEST_SECONDS).topics
    return len(topics[name].partitions) if name in topics else 0


def send(producer: Producer, topic: str, messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Deliver all of them; the delivered messages carry their offsets."""
    delivered: list[Message] = []
    errors: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            errors.append(error)
        else:
            delivered.append(message)

    for message in messages:
        producer.produce(topic, on_delivery=on_delivery, **message)
        producer.poll(0)
    assert producer.flush(30) == 0, "messages are still queued after the flush"
    assert not errors, errors[:3]
    return delivered


def delivery_error(producer: Producer, topic: str, **message: Any) -> KafkaError:
    """Send one message that must be refused; why it was."""
    outcome: list[KafkaError | None] = []
    producer.produce(topic, on_delivery=lambda error, _: outcome.append(error), **message)
    producer.flush(REQUEST_SECONDS)
    assert outcome, "no delivery report"
    assert outcome[0] is not None, "the message was accepted"
    return outcome[0]


def read(client: Consumer, count: int, *, seconds: float = 20.0) -> list[Message]:
    """The next so many messages."""
    found: list[Message] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        for message in client.consume(count - len(found), 0.2):
            _raise_unless_end(message.error())
            if message.error() is None:
                found.append(message)
    assert len(found) == count, f"read {len(found)} of {count} messages"
    return found


def read_all(bootstrap: str, topic: str, *, partitions: int = 1, **settings: object) -> list[Message]:
    """Everything from the beginning to the end of every partition."""
    with consumer(bootstrap, enable_partition_eof=True, fetch_wait_max_ms=50, **settings) as client:
        client.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
        return list(_until_all_ended(client, partitions))


def _until_all_ended(client: Consumer, partitions: int) -> Iterator[Message]:
    ended: set[int] = set()
    deadline = time.monotonic() + 30
    while len(ended) < partitions:
        assert time.monotonic() < deadline, f"only {sorted(ended)} of {partitions} ended"
        for message in client.consume(1000, 0.2):
            _raise_unless_end(message.error())
            if message.error() is None:
                yield message
            else:
                ended.add(message.partition())


def _raise_unless_end(error: KafkaError | None) -> None:
    if error is not None and error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)


def error_code(failure: KafkaException) -> int:
    """The code inside an exception of an admin call."""
    code: int = failure.args[0].code()
    return code
