"""Partitions that are read without a group: which they are, where each begins and, perhaps, where it ends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.consume.start_offset import Reference, Start, resolve
from penstock.cli.failure import CommandFailed, ExitCode
from penstock.cli.librdkafka import ANSWER_SECONDS_MAX, ask, failure

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition


def assignment(
    consumer: "Consumer", topic: str, wanted: Sequence[int] | None, start: Start
) -> "list[TopicPartition]":
    """The partitions to read, each with the offset to begin at."""
    from confluent_kafka import TopicPartition

    existing = existing_partitions(consumer, topic)
    if missing := sorted(set(wanted or []) - set(existing)):
        raise CommandFailed(
            f"Topic {topic!r} has no partition {missing[0]}; it has 0 to {max(existing)}.",
            code=ExitCode.USAGE,
        )
    partitions = [TopicPartition(topic, number) for number in sorted(set(wanted or existing))]
    for partition in partitions:
        partition.offset = resolve(consumer, partition, start)
    return partitions


def existing_partitions(consumer: "Consumer", topic: str) -> list[int]:
    """The numbers of a topic's partitions; a topic that is not there fails the command."""
    metadata = ask(lambda: consumer.list_topics(topic, timeout=ANSWER_SECONDS_MAX), doing="read metadata")
    found = metadata.topics[topic]
    if found.error is not None:
        raise failure(found.error, doing=f"consume topic {topic!r}")
    return list(found.partitions)


def ends_at(consumer: "Consumer", partitions: "Sequence[TopicPartition]", until_ms: int) -> dict[int, int]:
    """For each partition, the offset of the first record that is not older, or where it ends now."""
    until = Start(Reference.TIMESTAMP, until_ms)
    return {partition.partition: resolve(consumer, partition, until) for partition in partitions}
