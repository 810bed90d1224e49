"""A member of a group that uses confluent-kafka, as a process."""

import sys
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from tests.interop.members.story import Orders, Story, orders
from tests.telling import end_of_input

METADATA_PREFIX = b"CGMDv2:"


def settings(given: Orders) -> dict[str, object]:
    common: dict[str, object] = {
        "bootstrap.servers": given.bootstrap,
        "log_level": 0,
        "group.id": given.group,
        "group.protocol": given.protocol,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
        "reconnect.backoff.max.ms": 200,
        "topic.metadata.refresh.interval.ms": 1000,
    }
    if given.instance_id is not None:
        common["group.instance.id"] = given.instance_id
    if given.protocol == "classic":
        common["partition.assignment.strategy"] = given.assignor
        common["session.timeout.ms"] = given.session_timeout_ms
        common["heartbeat.interval.ms"] = given.heartbeat_interval_ms
    else:
        common["group.remote.assignor"] = given.assignor
    return common


def generation_of(consumer: Consumer) -> int:
    """From the serialised metadata: the only place where this client shows it."""
    raw: bytes = consumer.consumer_group_metadata()
    start = len(METADATA_PREFIX)
    assert raw.startswith(METADATA_PREFIX), raw
    return int.from_bytes(raw[start : start + 4], sys.byteorder, signed=True)


def pairs(partitions: Sequence[TopicPartition]) -> list[tuple[str, int]]:
    return [(one.topic, one.partition) for one in partitions]


def commit(consumer: Consumer, story: Story) -> None:
    offsets = dict(story.uncommitted)
    if not offsets:
        return
    wanted = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
    try:
        # Asked before: a rebalance may begin while the answer is under way.
        generation = generation_of(consumer)
        answered = consumer.commit(offsets=wanted, asynchronous=False)
    except KafkaException as error:
        story.failed(generation_of(consumer), "commit", error)
        return
    story.committed(generation, {(one.topic, one.partition): one.offset for one in answered})


def records(messages: Sequence[Message]) -> list[tuple[str, int, int, str]]:
    return [(m.topic(), m.partition(), m.offset(), m.value().decode()) for m in messages if m.error() is None]


def main() -> None:
    given, story, ended = orders(), Story(), end_of_input()
    consumer = Consumer(settings(given))
    consumer.subscribe(
        list(given.topics),
        on_assign=lambda client, partitions: story.assigned(generation_of(client), pairs(partitions)),
        on_revoke=lambda client, partitions: story.revoked(generation_of(client), pairs(partitions)),
        on_lost=lambda client, partitions: story.lost(generation_of(client), pairs(partitions)),
    )
    while not ended.is_set():
        messages = consumer.consume(200, 0.05)
        for message in messages:
            if message.error() is not None:
                story.failed(generation_of(consumer), "consume", message.error())
        story.processed(generation_of(consumer), records(messages))
        commit(consumer, story)
    consumer.close()
    story.closed()


if __name__ == "__main__":
    main()
